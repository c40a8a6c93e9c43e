import { parseArgs } from "node:util";
import { nearestName } from "@diligent/core/light";
import {
  SUBCOMMAND_PAGES,
  type SubcommandName,
  type SubcommandOption,
} from "../arguments/subcommand-table.ts";
import { UsageError } from "../usage-error.ts";

/** The words of a subcommand, taken apart; options are named without their dashes. */
export interface SubcommandArguments {
  /** The words that are no option, in order. */
  words: string[];
  /** The switches that were given. */
  switches: ReadonlySet<string>;
  /** The options with a value that were given; the last one counts. */
  values: ReadonlyMap<string, string>;
}

const HELP: SubcommandOption = { name: "help", alias: "h", help: "print this page" };

/**
 * Takes a subcommand's words apart. `--help` and `-h` are always known, as the switch `help`.
 * @throws UsageError for an unknown option.
 */
export function readSubcommandArguments(
  command: SubcommandName,
  rest: readonly string[],
): SubcommandArguments {
  const known = [...SUBCOMMAND_PAGES[command].options, HELP];
  const names = known.map(({ name }) => name);
  const options = Object.fromEntries(known.map((option) => [option.name, toParsed(option)]));
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
    if (known.find(({ name }) => name === token.name)?.value !== undefined) {
      if (!token.value) throw new UsageError(`${command}: ${token.rawName} needs a value`);
      values.set(token.name, token.value);
      continue;
    }
    if (token.value !== undefined) throw new UsageError(`${command}: ${token.rawName} takes no value`);
    switches.add(token.name);
  }
  return { words, switches, values };
}

function toParsed({ alias, value }: SubcommandOption): { type: "boolean" | "string"; short?: string } {
  return { type: value === undefined ? "boolean" : "string", ...(alias !== undefined && { short: alias }) };
}

/** What to say of a word that is none of those that may come first behind a subcommand's name. */
export function unknownAction(command: SubcommandName, action: string): UsageError {
  const nearest = nearestName(action, SUBCOMMAND_PAGES[command].words ?? []);
  const hint = nearest === undefined ? `see diligent ${command} --help` : `did you mean ${nearest}?`;
  return new UsageError(`${command}: unknown action ${action} (${hint})`);
}

function unknownOption(command: string, given: string, names: readonly string[]): UsageError {
  const nearest = nearestName(
    given,
    names.map((name) => `--${name}`),
  );
  const hint = nearest === undefined ? `see diligent ${command} --help` : `did you mean ${nearest}?`;
  return new UsageError(`${command}: unknown option ${given} (${hint})`);
}
