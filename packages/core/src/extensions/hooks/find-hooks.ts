import { join } from "node:path";
import type { DiligentConfig } from "../../config/schema.ts";
import type { ProjectTrust, TrustItem, TrustKind } from "../../config/trust-items.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { HOOK_FILES } from "./hook-files.ts";
import { type Hook, type ParsedHooks, parseHooks } from "./hook-settings.ts";

interface FindOptions {
  root: string;
  config: Pick<DiligentConfig, "hooks">;
  trust: Pick<ProjectTrust, "selectTrusted">;
  plugins: readonly Plugin[];
}

/** The hooks of the user's configuration, those of the project's files that the user trusts, and those of plugins. */
export async function findHooks({ root, config, trust, plugins }: FindOptions): Promise<ParsedHooks> {
  const own = parseHooks(config.hooks, { source: "your configuration", isUsers: true });
  const files = await readFiles(root);
  const trusted = await trust.selectTrusted(
    HOOK_TRUST,
    files.filter(({ hooks }) => hooks.length > 0),
  );
  const all = [own, ...trusted, ...plugins.map(readPluginHooks)];
  return {
    hooks: all.flatMap(({ hooks }) => hooks),
    problems: all.flatMap(({ problems }) => problems),
  };
}

/** The hooks of a plugin, which are not the user's own: they may only tighten. */
export function readPluginHooks({ root, hooks }: Pick<Plugin, "root" | "hooks">): ParsedHooks {
  const parsed = hooks.map(({ source, value }) =>
    parseHooks(value, { source, isUsers: false, pluginRoot: root }),
  );
  return {
    hooks: parsed.flatMap((each) => each.hooks),
    problems: parsed.flatMap(({ problems }) => problems),
  };
}

interface HookFile extends TrustItem, ParsedHooks {}

async function readFiles(root: string): Promise<HookFile[]> {
  const read = await Promise.all(HOOK_FILES.map((name) => readHookFile(root, name)));
  return read.flatMap((file) => file ?? []);
}

/** Undefined for a file without hooks. The other settings of the file do not matter for trust. */
async function readHookFile(root: string, name: string): Promise<HookFile | undefined> {
  const reading = await readDefinition(join(root, name), { boundary: root });
  if (reading.kind === "missing") return undefined;
  const base = { kind: HOOK_TRUST.kind, name, path: name, details: {}, sha256: "" };
  if (reading.kind === "refused")
    return { ...base, hooks: [], problems: [`${name} is not read: ${reading.reason}.`] };
  const settings = parseSettings(reading.text);
  if (settings === undefined) return { ...base, hooks: [], problems: [`${name} is not valid JSON.`] };
  if (settings.hooks === undefined) return undefined;
  const parsed = parseHooks(settings.hooks, { source: name, isUsers: false });
  return {
    ...base,
    ...parsed,
    details: describeHooks(parsed.hooks),
    sha256: Bun.SHA256.hash(JSON.stringify(settings.hooks), "hex"),
  };
}

function parseSettings(text: string): { hooks?: unknown } | undefined {
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
  async find({ root }) {
    const files = await readFiles(root);
    return {
      items: files.filter(({ hooks }) => hooks.length > 0).map(({ hooks: _, problems: __, ...item }) => item),
      warnings: files.flatMap(({ problems }) =>
        problems.map((message) => ({ code: "hooks_not_loaded", message })),
      ),
    };
  },
};
