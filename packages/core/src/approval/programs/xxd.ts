import { showWord } from "../show-word.ts";
import type { Operand } from "./program-options.ts";
import type { ProgramReading } from "./program-spec.ts";

// It looks at the second letter of a word and at nothing behind it, so that only whole words are certain.
const FLAGS: ReadonlySet<string> = new Set(["-a", "-b", "-e", "-E", "-i", "-p", "-ps", "-u"]);
const VALUE = /^-[cglos]$/;
const ATTACHED_VALUE = /^-[cglos]\d{1,6}$/;
const NUMBER = /^[-+]?(?:\d{1,8}|0x[\da-fA-F]{1,8})$/;

/** A dump of one file; a second operand would be written to, as would the first with `-r`. */
export function readXxd(words: readonly Operand[]): ProgramReading {
  const rest = [...words];
  const paths: string[] = [];
  for (let word = rest.shift(); word; word = rest.shift()) {
    const { text, names } = word;
    if (names !== undefined) return { obstacle: `the file names that ${showWord(text)} stands for` };
    if (FLAGS.has(text) || ATTACHED_VALUE.test(text)) continue;
    if (VALUE.test(text)) {
      if (!NUMBER.test(rest.shift()?.text ?? ""))
        return { obstacle: `what follows the option ${showWord(text)}` };
    } else if (text.startsWith("-")) return { obstacle: `the option ${showWord(text)}` };
    else paths.push(text);
  }
  return paths.length > 1 ? { obstacle: "a further operand" } : { use: { paths, readsContent: true } };
}
