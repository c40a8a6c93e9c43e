import { showWord } from "../show-word.ts";
import { EXPRESSION } from "./printf.ts";
import type { Operand } from "./program-options.ts";
import { namesOnly, type ProgramReading } from "./program-spec.ts";

const split = (list: string): string[] => list.split(" ");

const COMPARISONS: ReadonlySet<string> = new Set(split("-eq -ne -lt -le -gt -ge"));

// Not `-v` and `-R`: the index of a variable is evaluated, and may run a command.
const TESTS: ReadonlySet<string> = new Set([
  ...split("-e -f -d -r -w -x -s -h -L -z -n -S -p -b -c -k -u -g -O -G -N"),
  ...split("= == != < > -nt -ot -ef ! -a -o ( )"),
  ...COMPARISONS,
]);

/** What `test` looks at, provided that it evaluates nothing. */
export function readTest(words: readonly Operand[]): ProgramReading {
  const operands = words.filter(({ text }) => !TESTS.has(text));
  const comparesNumbers = words.some(({ text }) => COMPARISONS.has(text));
  const isStrange = ({ text, names }: Operand) =>
    names !== undefined || /^-(?!\d+$)/.test(text) || (comparesNumbers && EXPRESSION.test(text));
  const strange = operands.find(isStrange);
  if (strange) return { obstacle: showWord(strange.text) };
  return namesOnly(operands.map(({ text }) => text));
}

/** The same between brackets. */
export function readBracket(words: readonly Operand[]): ProgramReading {
  return words.at(-1)?.text === "]" ? readTest(words.slice(0, -1)) : { obstacle: "no closing ]" };
}
