import { showWord } from "../show-word.ts";
import type { Operand } from "./program-options.ts";
import { namesOnly, type ProgramReading } from "./program-spec.ts";

/** Whole numbers of at most six digits: a million lines are the most it prints. */
export function readSeq(words: readonly Operand[]): ProgramReading {
  const rest = [...words];
  for (let word = rest[0]; word && /^-\D/.test(word.text); word = rest[0]) {
    rest.shift();
    if (word.text === "-w" || word.text === "--equal-width") continue;
    if (word.text !== "-s" || rest.shift()?.names !== undefined)
      return { obstacle: `the option ${showWord(word.text)}` };
  }
  const strange = rest.find(({ text, names }) => names !== undefined || !/^-?\d{1,6}$/.test(text));
  if (strange || rest.length === 0 || rest.length > 3)
    return { obstacle: strange ? showWord(strange.text) : "its numbers" };
  return namesOnly([]);
}
