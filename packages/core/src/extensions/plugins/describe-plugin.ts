import { type ChangedSetting, compareSettings } from "../../config/settings.ts";
import type { TrustItem } from "../../config/trust-items.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { AGENT_TRUST, readAgentItems } from "../agents/find-agents.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { describeHooks, HOOK_TRUST, readPluginHooks } from "../hooks/find-hooks.ts";
import { readPluginServers } from "../mcp/project-file.ts";
import { readCommands } from "../prompt-commands/find-commands.ts";
import { COMMAND_TRUST, toCommandItem } from "../prompt-commands/trust.ts";
import { readSkills } from "../skills/find-skills.ts";
import { SKILL_TRUST, toSkillItem } from "../skills/trust.ts";

/** Something of a plugin that becomes active. */
export interface PluginItem extends TrustItem {
  /** The heading of its kind. */
  title: string;
  /** True if it runs code by itself, or starts a program. */
  runsCode: boolean;
}

/** What a plugin would do. */
export interface PluginDescription {
  /** What runs code first. */
  items: PluginItem[];
  /** What of it is not used, each a sentence. */
  problems: string[];
}

/** Describes everything of a plugin that becomes active. It reads files and runs nothing. */
export async function describePlugin(plugin: Plugin, environment: Environment): Promise<PluginDescription> {
  const { root, directories } = plugin;
  const hooks = readPluginHooks(plugin);
  const servers = readPluginServers(plugin);
  const commands = await readCommands(directories.commands);
  const skills = await readSkills(directories.skills, { environment, isPersistent: false });
  const agents = await readAgentItems(directories.agents);
  const skipped = [...commands.skipped, ...skills.skipped, ...agents.skipped];
  const items = [
    ...toHookItems(plugin, hooks.hooks),
    ...servers.flatMap((file) => file.servers.map((server) => toItem(server, SERVER_TITLE, true))),
    ...commands.commands.map((command) =>
      toItem(toCommandItem(command, root), COMMAND_TRUST.title, command.shellCommands.length > 0),
    ),
    ...skills.skills.map((skill) => toItem(toSkillItem(skill, root), SKILL_TRUST.title, false)),
    ...agents.items.map((item) => toItem(item, AGENT_TRUST.title, false)),
  ];
  return {
    items: [...items.filter(({ runsCode }) => runsCode), ...items.filter(({ runsCode }) => !runsCode)],
    problems: [
      ...plugin.problems,
      ...hooks.problems,
      ...servers.flatMap(({ path, problem, broken }) => [
        ...(problem === undefined ? [] : [`${path} is not used: ${problem}`]),
        ...broken.map((server) => `The server ${server.name} is not used: ${server.problem}`),
      ]),
      ...skipped.map(({ shown, reason }) => `${shown} is not used: ${reason}.`),
    ],
  };
}

const SERVER_TITLE = "Servers (MCP) that are started or contacted";

function toHookItems(plugin: Plugin, hooks: ReturnType<typeof readPluginHooks>["hooks"]): PluginItem[] {
  if (hooks.length === 0) return [];
  const item = {
    kind: HOOK_TRUST.kind,
    name: plugin.name,
    path: plugin.hooks.map(({ source }) => source).join(", "),
    details: describeHooks(hooks),
    sha256: Bun.SHA256.hash(JSON.stringify(plugin.hooks), "hex"),
  };
  return [toItem(item, HOOK_TRUST.title, true)];
}

/** Without what only the readers of its kind need. */
function toItem(
  { kind, name, path, details, sha256 }: TrustItem,
  title: string,
  runsCode: boolean,
): PluginItem {
  return { kind, name, path, details, sha256, title, runsCode };
}

/** How an item of the new form differs from the old one. */
export interface ItemChange {
  item: PluginItem;
  /** `text`: only its text has changed. */
  change: "added" | "removed" | "text" | "details";
  changes: ChangedSetting[];
}

/** What differs, the items of the new form first. */
export function compareItems(before: readonly PluginItem[], after: readonly PluginItem[]): ItemChange[] {
  const isSame = (left: PluginItem) => (right: PluginItem) =>
    left.kind === right.kind && left.name === right.name;
  return [
    ...after.flatMap((item): ItemChange[] => {
      const old = before.find(isSame(item));
      if (!old) return [{ item, change: "added", changes: [] }];
      if (old.sha256 === item.sha256) return [];
      const changes = compareSettings(old.details, item.details);
      return [{ item, change: changes.length > 0 ? "details" : "text", changes }];
    }),
    ...before
      .filter((item) => !after.some(isSame(item)))
      .map((item): ItemChange => ({ item, change: "removed", changes: [] })),
  ];
}
