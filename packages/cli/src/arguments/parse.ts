import { UsageError } from "../usage-error.ts";
import type { Command, Resumption, RunCommand, SubcommandCall } from "./command.ts";
import { findMistypedCommand } from "./mistyped-command.ts";
import { toRunOptions } from "./run-options.ts";
import { type SplitArguments, splitArguments } from "./split.ts";

/**
 * What a command line asks for; `argv` is without the program's name. Asking for help or the version wins over
 * everything else that is well formed.
 * @throws UsageError for everything that cannot be done as asked.
 */
export function parseArguments(argv: readonly string[]): Command {
  const split = splitArguments(argv);
  const [only, ...others] = argv;
  // Alone on the line it is looked for by whoever knows other programs; behind `--` it is a prompt.
  if (only === "help" && others.length === 0) return { kind: "help" };
  if (split.options.has("help")) return { kind: "help" };
  if (split.options.has("version")) return { kind: "version" };
  if (split.subcommand) return toSubcommandCall(split.subcommand, split.options);
  if (split.options.has("list")) return toListCommand(split);
  if (split.options.has("json")) {
    throw new UsageError("--json goes with --list; for a run it is --output-format json");
  }
  if (!argv.includes("--")) assertPrompt(split);
  return toRunCommand(split);
}

/** A word that stands where a command would, and is nearly one, would else be asked of a model. */
function assertPrompt({ words: [word, ...more], options }: SplitArguments): void {
  if (word === undefined || more.length > 0 || [...options.keys()].some((name) => name !== "directory"))
    return;
  const command = findMistypedCommand(word);
  if (command === undefined) return;
  throw new UsageError(
    `${word} is no command; did you mean diligent ${command}? As a prompt: diligent -- ${word}`,
  );
}

function toSubcommandCall(
  { name, rest }: NonNullable<SplitArguments["subcommand"]>,
  given: SplitArguments["options"],
): SubcommandCall {
  const idle = [...given.keys()].find((option) => option !== "directory");
  if (idle !== undefined) throw new UsageError(`--${idle} does not go with diligent ${name}`);
  const { directory } = toRunOptions(given);
  return { kind: "subcommand", name, rest, ...(directory !== undefined && { directory }) };
}

function toListCommand(split: SplitArguments): Command {
  if (split.words.length > 0) throw new UsageError(`--list takes no prompt: ${split.words.join(" ")}`);
  const idle = (["record", "replay"] as const).find((option) => split.options.has(option));
  if (idle !== undefined) throw new UsageError(`--${idle} does not go with --list, which asks no model`);
  return { kind: "list", isJson: split.options.has("json"), options: toRunOptions(split.options) };
}

function toRunCommand(split: SplitArguments): RunCommand {
  const resumption = toResumption(split.options);
  return {
    kind: "run",
    isPrint: split.options.has("print"),
    options: toRunOptions(split.options),
    ...(split.words.length > 0 && { prompt: split.words.join(" ") }),
    ...(resumption && { resumption }),
  };
}

function toResumption(given: SplitArguments["options"]): Resumption | undefined {
  const asked = (["continue", "resume", "fork"] as const).filter((name) => given.has(name));
  const [name, other] = asked;
  if (name === undefined) return undefined;
  if (other !== undefined) throw new UsageError(`--${name} and --${other} cannot be combined`);
  const reference = given.get(name);
  return {
    how: name === "fork" ? "fork" : "continue",
    ...(typeof reference === "string" && { reference }),
  };
}
