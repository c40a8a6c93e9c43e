import { SUBCOMMAND_PAGES } from "./subcommand-table.ts";

/**
 * The subcommand that a word was most likely meant to be: one letter is missing, too many or another, two neighbours are
 * swapped, or the case differs. Further away are words that people say to a model: `test` is not `trust`.
 */
export function findMistypedCommand(word: string): string | undefined {
  return Object.keys(SUBCOMMAND_PAGES).find((name) => isOneSlip(word.toLowerCase(), name));
}

function isOneSlip(word: string, name: string): boolean {
  let start = 0;
  while (start < word.length && word[start] === name[start]) start++;
  let end = 0;
  const rest = Math.min(word.length, name.length) - start;
  while (end < rest && word.at(-1 - end) === name.at(-1 - end)) end++;
  const typed = word.slice(start, word.length - end);
  const meant = name.slice(start, name.length - end);
  const isSwapped = typed.length === 2 && typed === [...meant].reverse().join("");
  return isSwapped || Math.max(typed.length, meant.length) <= 1;
}
