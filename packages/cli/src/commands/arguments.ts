import { parseArgs } from "node:util";
import { nearestName } from "@diligent/core/light";
import {
  ONLY_HOST_OPTION,
  SUBCOMMAND_PAGES,
  type SubcommandName,
  type SubcommandOption,
} from "../arguments/subcommands.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { readInputLines } from "../line-prompt/input.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";

/** Parsed arguments of a subcommand; option names have no dashes. */
export interface SubcommandArguments {
  /** The positional arguments, in order. */
  words: string[];
  /** The switches given. */
  switches: ReadonlySet<string>;
  /** Those of them that follow `--`. */
  separated: string[];
  /** The options with a value; the last one wins. */
  values: ReadonlyMap<string, string>;
  /** All values of each option. */
  lists: ReadonlyMap<string, readonly string[]>;
}

const HELP: SubcommandOption = { name: "help", alias: "h", help: "print this help" };

/**
 * Parses a subcommand's arguments. `--help` and `-h` are always accepted, as the switch `help`.
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
  const separated: string[] = [];
  const lists = new Map<string, string[]>();
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? Number.POSITIVE_INFINITY;
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "positional" && token.index > end) separated.push(token.value);
    if (token.kind !== "option") continue;
    if (!names.includes(token.name)) throw unknownOption(command, token.rawName, names);
    if (known.find(({ name }) => name === token.name)?.value !== undefined) {
      if (!token.value) throw new UsageError(`${command}: ${token.rawName} needs a value`);
      values.set(token.name, token.value);
      lists.set(token.name, [...(lists.get(token.name) ?? []), token.value]);
      continue;
    }
    if (token.value !== undefined) throw new UsageError(`${command}: ${token.rawName} takes no value`);
    switches.add(token.name);
  }
  return { words, separated, switches, values, lists };
}

/** Applies `--only-host`, if it was given. @throws UsageError for an invalid host. */
export async function limitHostsOf(lists: SubcommandArguments["lists"]): Promise<void> {
  const hosts = lists.get(ONLY_HOST_OPTION.name);
  if (hosts) (await import("../config.ts")).limitToHosts(hosts);
}

function toParsed({ alias, value }: SubcommandOption): { type: "boolean" | "string"; short?: string } {
  return { type: value === undefined ? "boolean" : "string", ...(alias !== undefined && { short: alias }) };
}

/** How a report is printed. */
export type PrintedFormat = "text" | "json" | "html";

/**
 * The format that `--json`, `--html` or `--format` asks for.
 * @throws UsageError for any other, and for two of them.
 */
export function readOutputFormat(
  command: SubcommandName,
  { switches, values }: Pick<SubcommandArguments, "switches" | "values">,
): PrintedFormat {
  const { options } = SUBCOMMAND_PAGES[command];
  const choices = options.find(({ name }) => name === "format")?.choices ?? [];
  const named = values.get("format");
  if (named !== undefined && !choices.includes(named))
    throw new UsageError(`${command}: --format ${named}: not one of ${choices.join(", ")}`);
  const wanted = new Set([
    ...["json", "html"].filter((name) => switches.has(name)),
    ...(named ? [named] : []),
  ]);
  if (wanted.size > 1) throw new UsageError(`${command}: choose one of ${[...wanted].join(" and ")}`);
  return wanted.has("json") ? "json" : wanted.has("html") ? "html" : "text";
}

/** True for a day of the calendar, written like 2026-01-31. */
export function isDay(text: string): boolean {
  // A date such as 2026-02-31 is parsed as one of the next month.
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The error for a subcommand without its first word. */
export function missingAction(command: SubcommandName): UsageError {
  return new UsageError(`${command} needs an action: ${(SUBCOMMAND_PAGES[command].words ?? []).join(", ")}`);
}

/** The error for an unknown first word of a subcommand. */
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

/**
 * Asks a question at the terminal; only `y` and `yes` confirm.
 * @throws UsageError without a terminal.
 */
export async function askYesNo(question: string, io: CliIo): Promise<boolean> {
  if (!io.stdin.isTerminal) throw new UsageError(`${question} No terminal to confirm; use --yes`);
  io.stderr.write(`${sanitizeTerminalText(question)} [y/N] `);
  for await (const line of readInputLines(io.stdin.stream())) return /^\s*y(es)?\s*$/i.test(line);
  return false;
}
