import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import type { SimpleCommand } from "./command-syntax.ts";

interface Readers {
  readGrammar: ReadGrammar;
  /** What our own reader has found, as far as it came. */
  found: readonly SimpleCommand[];
}

/**
 * The texts of what a line may run that is more than plain words: as our reader sees it, as the grammar does, and where
 * that errs as plain splitting does. For rules that deny, so that too many do less harm than too few.
 */
export function guessCommands(line: string, { readGrammar, found }: Readers): string[][] {
  const own = found.map((command) => command.map(({ text }) => text));
  // The shell takes these away before it looks for words.
  const joined = line.replaceAll("\\\n", "");
  const texts = joined === line ? [line] : [line, joined];
  return [...own, ...texts.flatMap((text) => commandsIn(text, readGrammar))].filter(
    (words) => words.length > 0,
  );
}

function commandsIn(line: string, readGrammar: ReadGrammar): string[][] {
  const grammar = readGrammar(line);
  const parsed = grammar.commands.map(({ words }) =>
    guessWords(words.map(({ start, end }) => line.slice(start, end))),
  );
  const split = (text: string) => text.split(/[;&|\n\r(){}`]/).map((piece) => guessWords(piece.split(/\s+/)));
  const doubtful = grammar.hasError
    ? [line]
    : grammar.commands.map(({ start, end }) => line.slice(start, end)).filter((text) => /[\n{}]/.test(text));
  return [...parsed, ...doubtful.flatMap(split)];
}

const ASSIGNMENT = /^\w+(?:\[[^\]]*\])?\+?=/;
const REDIRECTION = /^(?:\d+|\{\w+\})?(?:&>>?|[<>]{1,3}[&|]?)(.*)$/s;

/** Without quotes and backslashes, and without the variables and redirections in front. */
function guessWords(words: readonly string[]): string[] {
  const bare = words.map((word) => word.replace(/["'\\]|\$(?=["'])/g, "")).filter((word) => word !== "");
  let at = 0;
  for (let word = bare[at]; word !== undefined; word = bare[at]) {
    const target = REDIRECTION.exec(word)?.[1];
    if (target === undefined && !ASSIGNMENT.test(word)) break;
    at += target === "" ? 2 : 1;
  }
  return bare.slice(at);
}
