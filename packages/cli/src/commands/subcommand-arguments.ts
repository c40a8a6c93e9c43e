import { parseArgs } from "node:util";
import { nearestName } from "@diligent/core/light";
import { UsageError } from "../usage-error.ts";

export interface SubcommandArguments {
  /** The words that are no option, in order. */
  words: string[];
  /** The switches that were given. */
  switches: ReadonlySet<string>;
}

/**
 * Takes a subcommand's words apart. `--help` and `-h` are always known, as the switch `help`.
 * @param known the names of its switches, without dashes.
 * @throws UsageError for an unknown option.
 */
export function readSubcommandArguments(
  command: string,
  rest: readonly string[],
  known: readonly string[] = [],
): SubcommandArguments {
  const names = [...known, "help"];
  const options = Object.fromEntries(
    names.map((name) => [name, { type: "boolean" as const, ...(name === "help" && { short: "h" }) }]),
  );
  const { tokens } = parseArgs({
    args: [...rest],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const switches = new Set<string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    if (!names.includes(token.name)) throw unknownOption(command, token.rawName, names);
    if (token.value !== undefined) throw new UsageError(`${command}: ${token.rawName} takes no value`);
    switches.add(token.name);
  }
  return { words, switches };
}

function unknownOption(command: string, given: string, names: readonly string[]): UsageError {
  const nearest = nearestName(
    given,
    names.map((name) => `--${name}`),
  );
  const hint = nearest === undefined ? `see diligent ${command} --help` : `did you mean ${nearest}?`;
  return new UsageError(`${command}: unknown option ${given} (${hint})`);
}
