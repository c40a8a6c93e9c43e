import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { DiligentConfig } from "../../config/schema.ts";
import { CONFIG_NAMES } from "../../config/settings.ts";
import type { ProjectTrust, TrustItem, TrustKind } from "../../config/trust-items.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { findUserHookFile, HOOK_FILES } from "./hook-files.ts";
import { type Hook, type ParsedHooks, parseHooks } from "./hook-settings.ts";

interface FindOptions {
  root: string;
  environment: Environment;
  config: Pick<DiligentConfig, "hooks">;
  trust: Pick<ProjectTrust, "selectTrusted">;
  plugins: readonly Plugin[];
}

/**
 * The hooks of the user, from the configuration and the settings of Claude Code, those of the project's files that the user
 * trusts, and those of plugins.
 */
export async function findHooks({
  root,
  environment,
  config,
  trust,
  plugins,
}: FindOptions): Promise<ParsedHooks> {
  const own = parseHooks(config.hooks, { source: "your configuration", isUsers: true });
  const [users, files] = await Promise.all([readUserFile(environment), readFiles(root, environment)]);
  const trusted = await trust.selectTrusted(
    HOOK_TRUST,
    files.filter(({ hooks }) => hooks.length > 0),
  );
  return joinHooks([own, users, ...trusted, ...plugins.map(readPluginHooks)]);
}

/** The hooks of a plugin, which are not the user's own: they may only tighten. */
export function readPluginHooks({ root, hooks }: Pick<Plugin, "root" | "hooks">): ParsedHooks {
  return joinHooks(
    hooks.map(({ source, value }) => parseHooks(value, { source, isUsers: false, pluginRoot: root })),
  );
}

function joinHooks(all: readonly ParsedHooks[]): ParsedHooks {
  return { hooks: all.flatMap(({ hooks }) => hooks), problems: all.flatMap(({ problems }) => problems) };
}

async function readUserFile(environment: Environment): Promise<ParsedHooks> {
  const path = findUserHookFile(environment);
  const found = path === undefined ? undefined : await readSettings(path, { shown: path, isUsers: true });
  return found ?? { hooks: [], problems: [] };
}

interface HookFile extends TrustItem, ParsedHooks {}

async function readFiles(root: string, environment: Environment): Promise<HookFile[]> {
  const own = [findUserHookFile(environment), ...findUserConfigFiles(environment)].map(realPathOf);
  const names = [...HOOK_FILES, ...CONFIG_NAMES].filter(
    (name) => !own.includes(realPathOf(join(root, name))),
  );
  const read = await Promise.all(names.map((name) => readHookFile(root, name)));
  return read.flatMap((file) => file ?? []);
}

/** In the home directory or that of the user's configuration, a file of the user is not one of a project. */
function findUserConfigFiles(environment: Environment): string[] {
  const directory = userConfigDirectory(environment);
  return directory === undefined ? [] : CONFIG_NAMES.map((name) => join(directory, name));
}

function realPathOf(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : realpathSync(path);
  } catch {
    return undefined; // There is no such file.
  }
}

/** Undefined for a file without hooks. The other settings of the file do not matter for trust. */
async function readHookFile(root: string, name: string): Promise<HookFile | undefined> {
  const read = await readSettings(join(root, name), { shown: name, isUsers: false, boundary: root });
  if (read === undefined) return undefined;
  const { hooks, problems, written } = read;
  return {
    ...{ kind: HOOK_TRUST.kind, name, path: name, hooks, problems },
    details: describeHooks(hooks),
    sha256: written === undefined ? "" : Bun.SHA256.hash(JSON.stringify(written), "hex"),
  };
}

interface SettingsSource {
  /** For people. */
  shown: string;
  isUsers: boolean;
  /** See `DefinitionDirectory`. */
  boundary?: string;
}

/** The hooks of a settings file, with what they were read from; undefined without any. */
async function readSettings(
  path: string,
  { shown, isUsers, boundary }: SettingsSource,
): Promise<(ParsedHooks & { written?: unknown }) | undefined> {
  const reading = await readDefinition(path, { boundary });
  if (reading.kind === "missing") return undefined;
  if (reading.kind === "refused")
    return { hooks: [], problems: [`${shown} is not read: ${reading.reason}.`] };
  const settings = parseSettings(reading.text);
  if (settings === undefined) return { hooks: [], problems: [`${shown} is not valid JSON.`] };
  const { hooks, disableAllHooks } = settings;
  if (hooks === undefined || disableAllHooks === true) return undefined;
  return { ...parseHooks(hooks, { source: shown, isUsers }), written: hooks };
}

function parseSettings(text: string): { hooks?: unknown; disableAllHooks?: unknown } | undefined {
  try {
    const value: unknown = Bun.JSONC.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return undefined; // Reported as a file that is not used.
  }
}

/** What hooks do, by event and number, for the user who decides about them. */
export function describeHooks(hooks: readonly Hook[]): Record<string, string> {
  return Object.fromEntries(hooks.map((hook, index) => [`${hook.event}[${index}]`, describeHook(hook)]));
}

/** What a hook does, for the user who decides about it. */
export function describeHook({ action, matcher, condition }: Hook): string {
  const what = action.type === "command" ? action.command : action.url;
  const when = [matcher, condition].filter(Boolean).join(", ");
  return when === "" ? what : `${when}: ${what}`;
}

/** The hooks of a project: programs that run by themselves. */
export const HOOK_TRUST: TrustKind = {
  kind: "hooks",
  title: "Hooks: programs that run by themselves",
  noun: ["file with hooks", "files with hooks"],
  async find({ root, environment }) {
    const files = await readFiles(root, environment);
    return {
      items: files.filter(({ hooks }) => hooks.length > 0).map(({ hooks: _, problems: __, ...item }) => item),
      warnings: files.flatMap(({ problems }) =>
        problems.map((message) => ({ code: "hooks_not_loaded", message })),
      ),
    };
  },
};
