import {
  type ChangedSetting,
  ConfigError,
  type ShownSetting,
  type TrustDescription,
  trustProject,
  untrustProject,
  type WaitingItem,
} from "@diligent/core/config";
import { describeProjectTrust } from "@diligent/core/definitions";
import { escapeLine } from "../approval/escaped-text.ts";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { askYesNo, readSubcommandArguments } from "./arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError if a configuration file is broken, or without a terminal.
 */
export async function runTrust(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("trust", rest);
  if (words[0] !== undefined)
    throw new UsageError(`trust takes no arguments; for another directory: -C ${words[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const description = await orUsageError(() => describeProjectTrust(cwd, io.environment), ConfigError);
  for (const { message } of description.warnings) writeLine(io.stderr, `warning: ${message}`);
  for (const line of formatTrust(description)) writeLine(io.stdout, line);
  if (description.state === "none" || description.state === "trusted") return EXIT_SUCCESS;
  const question = `Trust what is listed above of ${description.directory}?`;
  if (!switches.has("yes") && !(await askYesNo(question, io)))
    return say(io, "Not trusted; nothing was changed.");
  await trustProject(description, io.environment);
  return say(io, `Trusted: ${description.directory}`);
}

/** @param directory as given with `-C`. */
export async function runUntrust(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words } = readSubcommandArguments("untrust", rest);
  if (words[0] !== undefined)
    throw new UsageError(`untrust takes no arguments; for another directory: -C ${words[0]}`);
  const result = await untrustProject(resolveDirectory(directory, io.cwd), io.environment);
  return say(
    io,
    result.wasTrusted ? `No longer trusted: ${result.directory}` : `Was not trusted: ${result.directory}`,
  );
}

function say(io: CliIo, text: string): number {
  writeLine(io.stdout, text);
  return EXIT_SUCCESS;
}

interface Effect {
  /** What these settings do once they are active. */
  title: string;
  isMeant(setting: ShownSetting): boolean;
}

/** The effects of settings, most severe first; a setting is listed under its first match. */
const EFFECTS: readonly Effect[] = [
  {
    title: "Where the conversation and your key are sent",
    isMeant: ({ key }) => /^provider\..*\.baseUrl$/.test(key),
  },
  {
    title: "Programs it starts, and servers it connects to",
    isMeant: ({ key }) => /^mcpServers\b/.test(key),
  },
  { title: "What it reads from your environment", isMeant: ({ value }) => value.includes("{env:") },
  { title: "What runs without asking you", isMeant: ({ key }) => /^(?:permissions|approval)\b/.test(key) },
  { title: "What commands may reach", isMeant: ({ key }) => /^sandbox/.test(key) },
  {
    title: "Which model answers",
    isMeant: ({ key }) => /^(?:model|models|provider|compaction\.model)\b/.test(key),
  },
  {
    title: "What the model is told from earlier sessions",
    isMeant: ({ key }) => key.endsWith("/knowledge.jsonl"),
  },
  { title: "Other settings", isMeant: () => true },
];

/**
 * What the user decides about: the exact directory, and each setting that would become active, grouped by effect. The
 * texts come from the project, so invisible characters are shown.
 */
export function formatTrust(
  description: TrustDescription,
  { maxItems = Number.POSITIVE_INFINITY } = {},
): string[] {
  const { state, path, activates, waiting, refused, changes } = description;
  const directory = escapeLine(description.directory);
  if (state === "none") return [`${directory} has nothing to trust.`];
  if (state === "trusted") return [`${directory} is already trusted in its current form.`];
  const own = refused.map(escapeLine).join(", ");
  return [
    `Directory  ${directory}`,
    ...(description.isWorktree
      ? ["           a git worktree: the repository's other worktrees are asked about too"]
      : []),
    ...(path === undefined ? [] : [`File       ${escapeLine(path)}`]),
    ...(state === "changed"
      ? [
          `It has changed since you trusted it${changes.length > 0 ? ":" : "."}`,
          ...changes.flatMap((change) => formatChange(change, "  ")),
        ]
      : []),
    ...(activates.length + waiting.length > 0
      ? ["Becomes active:", ...formatEffects(activates), ...formatWaiting(waiting, maxItems)]
      : ["Nothing in it needs trust."]),
    ...(own === "" ? [] : [`Ignored, only your own configuration can set it: ${own}`]),
  ];
}

function formatEffects(activates: readonly ShownSetting[]): string[] {
  const effectOf = (setting: ShownSetting) => EFFECTS.find(({ isMeant }) => isMeant(setting));
  return EFFECTS.flatMap((effect) => {
    const settings = activates.filter((setting) => effectOf(setting) === effect);
    return settings.length === 0 ? [] : [`  ${effect.title}`, ...settings.map(formatSetting)];
  });
}

function formatSetting({ key, value }: ShownSetting): string {
  return `    ${escapeLine(key)} = ${escapeLine(value)}`;
}

/** The definitions by kind: a new one with its details, a changed one with the differences. */
function formatWaiting(waiting: readonly WaitingItem[], maxItems: number): string[] {
  const titles = [...new Set(waiting.map(({ title }) => title))];
  return titles.flatMap((title) => {
    const items = waiting.filter((item) => item.title === title);
    const shown = items.slice(0, maxItems);
    const rest = items.length - shown.length;
    return [
      `  ${title}`,
      ...shown.flatMap(formatItem),
      ...(rest === 0 ? [] : [`    … and ${rest} more; "diligent trust" lists all of them`]),
    ];
  });
}

function formatItem({ name, path, state, details, changes }: WaitingItem): string[] {
  if (state === "untrusted")
    return [
      `    ${escapeLine(name)}  (${escapeLine(path)})`,
      ...Object.entries(details).map(([key, value]) => `  ${formatSetting({ key, value })}`),
    ];
  const what = changes.length > 0 ? "changed:" : "its text has changed";
  return [
    `    ${escapeLine(name)}  (${escapeLine(path)}), ${what}`,
    ...changes.flatMap((change) => formatChange(change, "      ")),
  ];
}

/** As a diff: removed lines, then added ones. */
function formatChange({ key, before, after }: ChangedSetting, indent: string): string[] {
  return [
    ...(before === undefined ? [] : [`${indent}- ${escapeLine(`${key} = ${before}`)}`]),
    ...(after === undefined ? [] : [`${indent}+ ${escapeLine(`${key} = ${after}`)}`]),
  ];
}
