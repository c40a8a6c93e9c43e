import { type Operand, readOptions } from "./program-options.ts";
import type { ProgramReading, ProgramSpec } from "./program-spec.ts";
import { toUse } from "./program-use.ts";

const SED: ProgramSpec = {
  flags: "n E r s u --quiet --silent --regexp-extended --separate --unbuffered",
  patternValues: "e --expression",
  operands: "pattern_and_paths",
};

// Without the letter behind which GNU expects a control character, and which may hide what follows it.
const between = (delimiter: string) =>
  String.raw`(?:[^${delimiter}\\\n[\]]|\\[^\nc]|\[\^?[^\]${delimiter}\\\n[]+\])*`;
const REGEX = between("/");
const ADDRESS = String.raw`(?:\d+~\d+|\d+|\$|/${REGEX}/)`;
const RANGE = String.raw`${ADDRESS}(?:,\s*(?:[+~]?\d+|${ADDRESS}))?`;
// Not `w`, which writes, and not `e`, which runs what comes out.
const SUBSTITUTION = ["/", "|", "#", ",", ":", "@", "%", "!", "_"]
  .map((delimiter) => {
    const escaped = delimiter === "|" ? "\\|" : delimiter;
    return String.raw`s${escaped}${between(delimiter)}${escaped}${between(delimiter)}${escaped}[gpiI\d]*`;
  })
  .join("|");
const COMMAND = String.raw`(?:${RANGE})?\s*!?\s*(?:[pd=]|q|${SUBSTITUTION})`;
const SCRIPT = new RegExp(String.raw`^\s*${COMMAND}(?:\s*;\s*${COMMAND})*\s*;?\s*$`);
const MAX_SCRIPT_CHARS = 200;

/** Printing, deleting and replacing on the way to stdout; it could also write files and run commands. */
export function readSed(words: readonly Operand[]): ProgramReading {
  const read = readOptions(words, SED);
  if ("obstacle" in read) return read;
  const { patterns } = read;
  const isKnown = (script: string) => script.length <= MAX_SCRIPT_CHARS && SCRIPT.test(script);
  return patterns.length > 0 && patterns.every(isKnown) ? toUse(read, SED) : { obstacle: "its script" };
}
