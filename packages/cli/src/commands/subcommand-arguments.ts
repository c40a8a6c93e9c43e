import { parseArgs } from "node:util";
import { nearestName } from "@diligent/core/light";
import { UsageError } from "../usage-error.ts";

export interface SubcommandArguments {
  /** The words that are no option, in order. */
  words: string[];
  /** The switches that were given. */
  switches: ReadonlySet<string>;
  /** The options with a value that were given; the last one counts. */
  values: ReadonlyMap<string, string>;
}

/**
 * Takes a subcommand's words apart. `--help` and `-h` are always known, as the switch `help`.
 * @param known the names of its options, without dashes; one that takes a value ends in `=`, and its first letter is
 *   its short form.
 * @throws UsageError for an unknown option.
 */
export function readSubcommandArguments(
  command: string,
  rest: readonly string[],
  known: readonly string[] = [],
): SubcommandArguments {
  const valued = known.filter((name) => name.endsWith("=")).map((name) => name.slice(0, -1));
  const names = [...known.filter((name) => !name.endsWith("=")), ...valued, "help"];
  const options = Object.fromEntries(names.map((name) => [name, toOption(name, valued)]));
  const { tokens } = parseArgs({
    args: [...rest],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const switches = new Set<string>();
  const values = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    if (!names.includes(token.name)) throw unknownOption(command, token.rawName, names);
    if (valued.includes(token.name)) {
      if (!token.value) throw new UsageError(`${command}: ${token.rawName} needs a value`);
      values.set(token.name, token.value);
      continue;
    }
    if (token.value !== undefined) throw new UsageError(`${command}: ${token.rawName} takes no value`);
    switches.add(token.name);
  }
  return { words, switches, values };
}

function toOption(name: string, valued: readonly string[]): { type: "boolean" | "string"; short?: string } {
  if (valued.includes(name)) return { type: "string", short: name.slice(0, 1) };
  return { type: "boolean", ...(name === "help" && { short: "h" }) };
}

function unknownOption(command: string, given: string, names: readonly string[]): UsageError {
  const nearest = nearestName(
    given,
    names.map((name) => `--${name}`),
  );
  const hint = nearest === undefined ? `see diligent ${command} --help` : `did you mean ${nearest}?`;
  return new UsageError(`${command}: unknown option ${given} (${hint})`);
}
