import { type Operand, readOptions } from "./program-options.ts";
import type { ProgramReading, ProgramSpec } from "./program-spec.ts";
import { toUse } from "./program-use.ts";

const JQ: ProgramSpec = {
  flags:
    "r c n s S e a j R M C --raw-output --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output " +
    "--join-output --raw-input --monochrome-output --color-output --tab",
  operands: "pattern_and_paths",
};

// Reading further files as modules, the environment, and what need not come to an end or grows without bound.
const UNSURE =
  /\b(?:import|include|modulemeta|get_search_list|env|def|repeat|range|while|until|recurse|limit|reduce|foreach|combinations|input|inputs|infinite|debug|stderr|input_filename)\b|\$(?:ENV|__prog)|\*|\d{5}/;

/** Reads a call of jq. A filter that may read more than its operands, or may not end soon, is an obstacle. */
export function readJq(words: readonly Operand[]): ProgramReading {
  const read = readOptions(words, JQ);
  if ("obstacle" in read) return read;
  const [filter] = read.patterns;
  return filter === undefined || UNSURE.test(filter) ? { obstacle: "its filter" } : toUse(read, JQ);
}
