import { UsageError } from "../usage-error.ts";
import { type Command, isSubcommandName, type Resumption, type RunCommand, SUBCOMMANDS } from "./command.ts";
import { AVAILABLE_FEATURES, type Feature } from "./features.ts";
import { OPTIONS, type Option, optionLabel } from "./option-table.ts";
import { toRunOptions } from "./run-options.ts";
import { type SplitArguments, splitArguments } from "./split.ts";

const SUBCOMMAND_NAMES: ReadonlySet<string> = new Set(Object.keys(SUBCOMMANDS));

/**
 * What a command line asks for; `argv` is without the program's name. Asking for help or the version wins over
 * everything else that is well formed.
 * @throws UsageError for everything that cannot be done as asked.
 */
export function parseArguments(
  argv: readonly string[],
  available: ReadonlySet<Feature> = AVAILABLE_FEATURES,
): Command {
  const split = splitArguments(argv, SUBCOMMAND_NAMES);
  if (split.options.has("help")) return { kind: "help" };
  if (split.options.has("version")) return { kind: "version" };
  requireAvailable(split, available);
  const options = toRunOptions(split.options);
  if (split.subcommand && isSubcommandName(split.subcommand.name)) {
    const { name, rest } = split.subcommand;
    const idle = [...split.options.keys()].find((option) => option !== "directory");
    if (idle !== undefined) throw new UsageError(`--${idle} does not go with diligent ${name}`);
    return { kind: "subcommand", name, rest, options };
  }
  if (split.options.has("list")) return toListCommand(split);
  if (split.options.has("json")) {
    throw new UsageError("--json goes with --list; for a run it is --output-format json");
  }
  return toRunCommand(split);
}

function requireAvailable(split: SplitArguments, available: ReadonlySet<Feature>): void {
  for (const option of OPTIONS satisfies readonly Option[]) {
    const feature = "feature" in option ? option.feature : undefined;
    if (feature && split.options.has(option.name) && !available.has(feature)) {
      throw new UsageError(`${optionLabel(option)} is not available yet`);
    }
  }
  const name = split.subcommand?.name;
  if (name !== undefined && isSubcommandName(name) && !available.has(name)) {
    throw new UsageError(
      `diligent ${name} is not available yet (to send it as a prompt: diligent -- ${name} …)`,
    );
  }
}

function toListCommand(split: SplitArguments): Command {
  if (split.words.length > 0) throw new UsageError(`--list takes no prompt: ${split.words.join(" ")}`);
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
