import { join, relative } from "node:path";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import {
  COMMAND_LOCATIONS,
  type DefinitionDirectory,
  type DefinitionPlace,
  findDefinitionDirectories,
  toQualifiedName,
} from "../definitions/directories.ts";
import { listDefinitionFiles } from "../definitions/list-files.ts";
import { PLUGIN_ROOT_VARIABLE } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { type CommandDefinition, parseCommand, styleOf } from "./parse-command.ts";

/** A file that defines a command. */
export interface CommandFile extends CommandDefinition {
  /** What the user enters after the slash, such as `git:commit` for `git/commit.md`. */
  name: string;
  /** The real path of the file. */
  path: string;
  /** For people, such as `.claude/commands/review.md`. */
  shown: string;
  /** See `DefinitionDirectory`. */
  boundary: string | undefined;
  /** See `DefinitionDirectory`. */
  plugin: DefinitionDirectory["plugin"];
  /** Of the whole file. */
  sha256: string;
}

/** A file that is not used as a command. */
export interface SkippedCommand {
  /** For people. */
  shown: string;
  /** A clause without a full stop. */
  reason: string;
}

/** The commands of a session, one of each name, and what is left out. */
export interface FoundCommands {
  commands: CommandFile[];
  skipped: SkippedCommand[];
}

/** Finds the commands for a session; those of the project are not trusted yet. It reads files and runs nothing. */
export function findCommands(place: DefinitionPlace): Promise<FoundCommands> {
  return readCommands(findDefinitionDirectories(place, COMMAND_LOCATIONS));
}

/**
 * Reads the commands in these directories, the strongest first.
 * @param options.keepsEqualNames true: a command does not hide a weaker one with the same name.
 */
export async function readCommands(
  directories: readonly DefinitionDirectory[],
  { keepsEqualNames = false } = {},
): Promise<FoundCommands> {
  const found = await Promise.all(directories.map(readCommandsOf));
  const skipped = found.flatMap((each) => each.skipped);
  const commands = new Map<string, CommandFile>();
  const paths = new Set<string>();
  for (const command of found.flatMap((each) => each.commands)) {
    if (paths.has(command.path)) continue;
    paths.add(command.path);
    const key = keepsEqualNames ? command.path : command.name;
    const stronger = commands.get(key);
    if (stronger === undefined) commands.set(key, command);
    else skipped.push({ shown: command.shown, reason: `${stronger.shown} has the same name` });
  }
  return { commands: [...commands.values()], skipped };
}

async function readCommandsOf(directory: DefinitionDirectory): Promise<FoundCommands> {
  const style = styleOf(`${directory.path}/`);
  const extension = style.marks === "braces" ? ".toml" : ".md";
  const { files, links, isCut } = listDefinitionFiles(directory, extension);
  const read = await Promise.all(files.map((path) => readCommand(path, { directory, extension })));
  const skipped = [
    ...read.flatMap((each) => ("reason" in each ? [each] : [])),
    ...links.map((path) => ({ shown: showPath(path, directory), reason: "it is a link out of the project" })),
  ];
  if (isCut) skipped.push({ shown: directory.shown, reason: "it has too many files; the rest is left out" });
  return { commands: read.flatMap((each) => ("reason" in each ? [] : [each])), skipped };
}

async function readCommand(
  path: string,
  { directory, extension }: { directory: DefinitionDirectory; extension: string },
): Promise<CommandFile | SkippedCommand> {
  const shown = showPath(path, directory);
  const reading = await readDefinition(path, directory);
  if (reading.kind === "missing") return { shown, reason: "it has just been removed" };
  if (reading.kind === "refused") return { shown, reason: reading.reason };
  const style = styleOf(`${directory.path}/`);
  const definition = parseCommand(reading.text, style);
  if ("problem" in definition) return { shown, reason: definition.problem };
  const name = toCommandName(relative(directory.path, path).slice(0, -extension.length));
  if (name === undefined) return { shown, reason: "its name has no letter or digit of a-z and 0-9" };
  const { realPath, sha256 } = reading;
  const { boundary, plugin } = directory;
  const prefix = style.hasNamedArguments ? "prompts:" : "";
  const variables = plugin && { [PLUGIN_ROOT_VARIABLE]: plugin.root };
  return {
    ...definition,
    template: { ...definition.template, variables },
    name: toQualifiedName(prefix + name, plugin),
    ...{ path: realPath, shown, boundary, plugin, sha256 },
  };
}

/** Folders become namespaces; characters that cannot be entered become hyphens. */
function toCommandName(path: string): string | undefined {
  const segments = path.split("/").map((segment) => segment.match(/[\w-]+/g)?.join("-") ?? "");
  return segments.includes("") ? undefined : segments.join(":");
}

function showPath(path: string, { path: root, shown }: DefinitionDirectory): string {
  return revealInvisible(join(shown, path.slice(root.length)));
}
