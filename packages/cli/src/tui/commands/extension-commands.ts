import type { ExtensionCommand } from "@diligent/core/harness";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { SlashCommand } from "./types.ts";

const MAX_HINT_COLUMNS = 60;
const MAX_DESCRIPTION_COLUMNS = 200;

type NamedCommand = Pick<SlashCommand, "name" | "aliases">;

/** The commands of extensions that can be entered: the program's own names come first, then the first of each name. */
export function listAddedCommands(
  commands: readonly ExtensionCommand[],
  own: readonly NamedCommand[],
): SlashCommand[] {
  const names = commands.map(({ name }) => name);
  return commands
    .filter(({ name }, index) => !isTaken(name, own) && names.indexOf(name) === index)
    .map(toSlashCommand);
}

/** A line about commands that cannot be entered, because the program has commands with their names. */
export function describeTaken(
  commands: readonly ExtensionCommand[],
  own: readonly NamedCommand[],
): string | undefined {
  const taken = commands.filter(({ name }) => isTaken(name, own));
  const [first] = taken;
  if (first === undefined) return undefined;
  const more = taken.length > 1 ? ` (and ${taken.length - 1} more)` : "";
  const source = toSingleLine(first.source ?? "an extension", MAX_DESCRIPTION_COLUMNS);
  return `/${first.name} is diligent's own command; that of ${source}${more} works in -p only. Rename its file to use it here.`;
}

function isTaken(name: string, own: readonly NamedCommand[]): boolean {
  return own.some((command) => command.name === name || command.aliases?.includes(name));
}

/** A command of an extension, such as a skill or a file of the project, in lists and completions. */
function toSlashCommand({
  name,
  description,
  argumentHint,
  source,
  complete,
}: ExtensionCommand): SlashCommand {
  return {
    name: toSingleLine(name, MAX_DESCRIPTION_COLUMNS),
    description: toSingleLine(description, MAX_DESCRIPTION_COLUMNS),
    ...(argumentHint !== undefined && { argumentHint: toSingleLine(argumentHint, MAX_HINT_COLUMNS) }),
    ...(source !== undefined && { source: toSingleLine(source, MAX_DESCRIPTION_COLUMNS) }),
    ...(complete && { complete }),
    isAlwaysPossible: true,
    // What it stands for is only known when it is sent.
    run: (argument, { send }) => send(`/${name} ${argument}`.trimEnd()),
  };
}
