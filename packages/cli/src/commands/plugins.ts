import {
  type ItemChange,
  listPlugins,
  PluginError,
  type PluginItem,
  type PluginPlace,
  type PreparedPlugin,
  preparePlugin,
  prepareUpdate,
  type ReplacedPlugin,
  removePlugin,
} from "@diligent/core/plugins";
import { escapeLine } from "../approval/escaped-text.ts";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeFailure, writeLine } from "../io/io.ts";
import { toJsonText } from "../text/format.ts";
import { askYesNo, readSubcommandArguments, type SubcommandArguments, unknownAction } from "./arguments.ts";

/** @throws UsageError for unknown actions and incomplete arguments, and without a terminal to ask at. */
export async function runPlugins(rest: readonly string[], io: CliIo): Promise<number> {
  const given = readSubcommandArguments("plugins", rest);
  const [action = "list", argument, ...more] = given.words;
  if (!isSubcommandWord("plugins", action)) throw unknownAction("plugins", action);
  const [extra] = action === "list" && argument !== undefined ? [argument] : more;
  if (extra !== undefined) throw new UsageError(`plugins ${action}: unexpected argument ${extra}`);
  if (given.values.has("plugin") && action !== "add") throw new UsageError("plugins: --plugin goes with add");
  try {
    if (action === "list") return await list(io, given);
    if (action === "update") return await update(argument, io, given);
    if (argument === undefined)
      throw new UsageError(`plugins ${action}: ${action === "add" ? "URL or PATH" : "NAME"} is missing`);
    if (action === "add") return await add(argument, io, given);
    await removePlugin(argument, io.environment);
    writeLine(io.stdout, `Removed ${argument}`);
    return EXIT_SUCCESS;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    writeFailure(io.stderr, escapeLine(error.message));
    return EXIT_FAILURE;
  }
}

async function list({ environment, stdout }: CliIo, { switches }: SubcommandArguments): Promise<number> {
  const plugins = await listPlugins(environment);
  if (switches.has("json")) {
    stdout.write(toJsonText(plugins.map(({ summary: _, ...plugin }) => plugin)));
    return EXIT_SUCCESS;
  }
  if (plugins.length === 0) writeLine(stdout, "There are no plugins. Add one with diligent plugins add.");
  for (const { name, source, commit, reason, summary } of plugins) {
    writeLine(stdout, escapeLine(`${name}  ${source}${commit === null ? "" : `  ${shorten(commit)}`}`));
    const state =
      reason === undefined
        ? summary || "nothing that becomes active"
        : `not used: ${reason}; see diligent plugins update ${name}`;
    writeLine(stdout, escapeLine(`    ${state}`));
  }
  return EXIT_SUCCESS;
}

async function add(argument: string, io: CliIo, given: SubcommandArguments): Promise<number> {
  const place = toPlace(io);
  return agree(await preparePlugin(argument, given.values.get("plugin"), place), io, given);
}

async function update(name: string | undefined, io: CliIo, given: SubcommandArguments): Promise<number> {
  if (name !== undefined) return agree(await prepareUpdate(name, toPlace(io)), io, given);
  let exitCode: number = EXIT_SUCCESS;
  for (const each of await listPlugins(io.environment)) {
    try {
      await agree(await prepareUpdate(each.name, toPlace(io)), io, given);
    } catch (error) {
      // One source that cannot be reached does not affect the others.
      if (!(error instanceof PluginError)) throw error;
      writeFailure(io.stderr, escapeLine(`${each.name}: ${error.message}`));
      exitCode = EXIT_FAILURE;
    }
  }
  return exitCode;
}

function toPlace({ cwd, environment }: CliIo): PluginPlace {
  return { cwd, environment, signal: new AbortController().signal };
}

/** Shows what a plugin would do, and activates it once the user agrees. */
async function agree(plugin: PreparedPlugin, io: CliIo, { switches }: SubcommandArguments): Promise<number> {
  const { name } = plugin;
  try {
    if (plugin.isCurrent) {
      writeLine(io.stdout, `${name} is up to date`);
      return EXIT_SUCCESS;
    }
    for (const line of formatPlugin(plugin)) writeLine(io.stdout, line);
    const isAgreed = switches.has("yes") || (await askYesNo(`Activate ${name} in all your projects?`, io));
    if (!isAgreed) {
      writeLine(io.stdout, "Not activated; nothing was changed.");
      return EXIT_SUCCESS;
    }
    await plugin.activate();
    writeLine(io.stdout, `${plugin.replaces ? "Updated" : "Added"} ${name}`);
    return EXIT_SUCCESS;
  } finally {
    plugin.discard();
  }
}

/** What the user decides about. The texts come from the plugin, so invisible characters are shown. */
function formatPlugin(plugin: PreparedPlugin): string[] {
  const { name, version, description, source, commit, content, programs, replaces } = plugin;
  const isShownWhole = replaces === undefined || replaces.reason !== undefined;
  return [
    `Plugin     ${escapeLine([name, version].filter(Boolean).join(" "))}`,
    ...(description === undefined ? [] : [`           ${escapeLine(description)}`]),
    `Source     ${escapeLine(source)}`,
    ...(commit === null ? [] : [`Commit     ${escapeLine(commit)}`]),
    ...(replaces ? formatReplaced(replaces) : []),
    ...(isShownWhole ? formatItems(content.items) : formatDifferences(replaces)),
    ...(programs.length === 0 ? [] : ["Programs in it, which its hooks, servers and commands can run:"]),
    ...limit(programs.map((path) => `    ${escapeLine(path)}`)),
    ...(content.problems.length === 0 ? [] : ["Not used:"]),
    ...limit(content.problems.map((problem) => `    ${escapeLine(problem)}`)),
  ];
}

function formatReplaced({ commit, reason }: ReplacedPlugin): string[] {
  return [
    ...(commit === null ? [] : [`Before     ${escapeLine(commit)}`]),
    ...(reason === undefined ? [] : [`           not active: ${escapeLine(reason)}`]),
  ];
}

function formatItems(items: readonly PluginItem[]): string[] {
  if (items.length === 0) return ["Nothing in it becomes active."];
  const running = items.filter(({ runsCode }) => runsCode);
  const others = items.filter(({ runsCode }) => !runsCode);
  return [
    ...(running.length === 0
      ? ["Nothing in it runs code by itself."]
      : ["Runs code:", ...formatKinds(running)]),
    ...(others.length === 0 ? [] : ["Becomes active:", ...formatKinds(others)]),
  ];
}

function formatKinds(items: readonly PluginItem[]): string[] {
  const titles = [...new Set(items.map(({ title }) => title))];
  return titles.flatMap((title) => [
    `  ${title}`,
    ...items.filter((item) => item.title === title).flatMap(formatItem),
  ]);
}

function formatItem({ name, path, details }: PluginItem): string[] {
  return [
    `    ${escapeLine(name)}  (${escapeLine(path)})`,
    ...Object.entries(details).map(([key, value]) => `      ${escapeLine(`${key} = ${value}`)}`),
  ];
}

function formatDifferences({ changes, files }: ReplacedPlugin): string[] {
  const paths = [
    ...files.removed.map((path) => `- ${path}`),
    ...files.added.map((path) => `+ ${path}`),
    ...files.changed.map((path) => `~ ${path}`),
  ];
  return [
    ...(changes.length === 0 ? ["What becomes active stays the same."] : ["Changes:"]),
    ...changes.flatMap(formatChange),
    ...(paths.length === 0 ? [] : ["Files:"]),
    ...limit(paths.map((path) => `    ${escapeLine(path)}`)),
  ];
}

function formatChange({ item, change, changes }: ItemChange): string[] {
  const runs = item.runsCode ? ", runs code" : "";
  const head = `${escapeLine(item.name)}  (${escapeLine(item.path)}${runs})`;
  switch (change) {
    case "removed":
      return [`  - ${head}`];
    case "added":
      return [`  + ${head}`, ...formatItem(item).slice(1)];
    case "text":
      return [`  ~ ${head}: its text has changed`];
    case "details":
      return [
        `  ~ ${head}`,
        ...changes.flatMap(({ key, before, after }) => [
          ...(before === undefined ? [] : [`      - ${escapeLine(`${key} = ${before}`)}`]),
          ...(after === undefined ? [] : [`      + ${escapeLine(`${key} = ${after}`)}`]),
        ]),
      ];
  }
}

const MAX_LINES = 100;

/** Definitions are all shown; paths and problems may be thousands. */
function limit(lines: readonly string[]): string[] {
  if (lines.length <= MAX_LINES) return [...lines];
  return [...lines.slice(0, MAX_LINES), `    … and ${lines.length - MAX_LINES} more`];
}

function shorten(commit: string): string {
  return commit.slice(0, 12);
}
