import { readFindExpression } from "./find-expression.ts";
import { readJq } from "./jq-filter.ts";
import { readPrintf } from "./printf.ts";
import type { Operand } from "./program-options.ts";
import { namesOnly, type ProgramReading } from "./program-spec.ts";
import { readRipgrep } from "./ripgrep.ts";
import { readSed } from "./sed-script.ts";
import { readSeq } from "./seq.ts";
import { readBracket, readTest } from "./test-expression.ts";
import { readXxd } from "./xxd.ts";

/** Programs whose operands are a language, or whose options follow rules of their own. */
export interface SpecialProgram {
  read(words: readonly Operand[], isPiped: boolean): ProgramReading;
  isBuiltin?: boolean;
}

/** By the name as it is typed; where `READ_ONLY_PROGRAMS` has it too, these count. */
export const SPECIAL_PROGRAMS: Readonly<Record<string, SpecialProgram>> = {
  echo: { read: (words) => namesOnly(words.flatMap(({ names }) => names ?? [])), isBuiltin: true },
  printf: { read: readPrintf, isBuiltin: true },
  test: { read: readTest, isBuiltin: true },
  "[": { read: readBracket, isBuiltin: true },
  command: { read: readCommandLookup, isBuiltin: true },
  find: { read: readFindExpression },
  jq: { read: readJq },
  ps: { read: readPs },
  rg: { read: readRipgrep },
  sed: { read: readSed },
  seq: { read: readSeq },
  xxd: { read: readXxd },
};

/** Only asking what a name stands for; anything else would run it. */
function readCommandLookup([option, ...names]: readonly Operand[]): ProgramReading {
  const isLookup = option?.text === "-v" || option?.text === "-V";
  const isPlain = names.every((operand) => operand.names === undefined && !operand.text.startsWith("-"));
  return isLookup && isPlain ? namesOnly([]) : { obstacle: "what it is used for" };
}

/** The lists that show no environment, on any system: `-e` is every process on one and its variables on another. */
function readPs(words: readonly Operand[]): ProgramReading {
  const text = words.map((word) => word.text).join(" ");
  return ["", "aux", "ax", "-A"].includes(text) ? namesOnly([]) : { obstacle: "what it would show" };
}
