import type { DiligentConfig, ModelSetting, PermissionRule } from "./schema.ts";
import { flattenSettings } from "./setting-paths.ts";

/** What a project's configuration is measured against. */
export interface RestrictionContext {
  /** The user's own configuration: an untrusted project may ask or refuse more than it does, never less. */
  user: Readonly<DiligentConfig>;
  /** True for an id or alias of a model whose provider is Anthropic or OpenAI themselves. */
  isKnownModel(id: string): boolean;
}

/** A project's configuration without what it may not say; `ignored` names what was taken away. */
export interface RestrictedConfig {
  config: DiligentConfig;
  ignored: string[];
  /** Lists that hold the user's own entries as well. */
  extended: string[];
}

// What no project file decides, whatever it is set to: what commands may reach on this machine, and who is asked for the
// newest version.
const USER_SETTINGS = ["sandboxWritable", "inheritEnvironment", "updateUrl"] as const;

/** True for a setting, by its full name, that counts from no project file. */
export function isUserSetting(key: string): boolean {
  return isKey(key) || USER_SETTINGS.some((setting) => key.startsWith(setting));
}

/**
 * Takes away what no project file decides, trusted or not: the settings above, keys, and to do without the sandbox that the
 * user requires.
 */
export function removeUserSettings(
  project: Readonly<DiligentConfig>,
  user: Readonly<DiligentConfig>,
): RestrictedConfig {
  const { provider, sandbox, ...rest } = project;
  const isLax = user.sandbox === "required" && sandbox !== "required";
  for (const setting of USER_SETTINGS) delete rest[setting];
  const refused = {
    ...Object.fromEntries(USER_SETTINGS.map((setting) => [setting, project[setting]])),
    provider,
    sandbox: isLax ? sandbox : undefined,
  };
  const ignored = [...flattenSettings(refused).keys()].filter(
    (key) => !key.startsWith("provider.") || isKey(key),
  );
  return {
    config: {
      ...rest,
      ...(sandbox !== undefined && !isLax && { sandbox }),
      ...(provider !== undefined && { provider: withoutKeys(provider) }),
    },
    ignored,
    extended: [],
  };
}

function isKey(name: string): boolean {
  return name.endsWith(".apiKey");
}

/** What a project may not decide before the user trusts it: whatever sends data elsewhere, or allows more than the user does. */
export function removeUntrustedSettings(
  project: Readonly<DiligentConfig>,
  context: RestrictionContext,
): RestrictedConfig {
  const { provider, models, model, approval, sandbox, permissions, compaction, ...rest } = project;
  const { user } = context;
  const ignored = [...flattenSettings({ provider, models }).keys()];
  const config: DiligentConfig = { ...rest };
  const keep = (key: string, isAllowed: boolean) => {
    if (!isAllowed) ignored.push(key);
    return isAllowed;
  };
  if (model !== undefined && keep("model", isPublicModel(model, context))) config.model = model;
  if (approval !== undefined && keep("approval", isAsStrict(APPROVALS, approval, user.approval)))
    config.approval = approval;
  if (sandbox !== undefined && keep("sandbox", isAsStrict(SANDBOXES, sandbox, user.sandbox)))
    config.sandbox = sandbox;
  if (compaction !== undefined) {
    const { model: summaryModel, ...others } = compaction;
    config.compaction = others;
    if (summaryModel !== undefined && keep("compaction.model", isPublicModel(summaryModel, context)))
      config.compaction.model = summaryModel;
  }
  const rules = permissions?.filter(({ action }, index) => keep(`permissions[${index}]`, action !== "allow"));
  // Before the user's own, so that these decide wherever both match.
  if (rules !== undefined)
    config.permissions = [...rules, ...(user.permissions ?? [])] satisfies PermissionRule[];
  const extended = rules !== undefined && user.permissions !== undefined ? ["permissions"] : [];
  return { config, ignored, extended };
}

// From lax to strict. What is not set counts as the laxest value that a project may choose.
const APPROVALS = ["auto", "ask", "deny", "plan"] as const;
const SANDBOXES = ["off", "auto", "required"] as const;

function isAsStrict<T extends string>(order: readonly T[], wanted: T, user: T | undefined): boolean {
  const least = user === undefined ? 1 : Math.max(1, order.indexOf(user));
  return order.indexOf(wanted) >= least;
}

/** True when the model is certainly one of the two public providers', at the address the user has set for it. */
function isPublicModel(id: string, { user, isKnownModel }: RestrictionContext): boolean {
  const name = id.replace(/^(?:anthropic|openai)\//, "");
  // What is left of a slash could name a compatible server or a script.
  if (name.includes("/")) return false;
  return !isServerName(name, user) && (/^(?:claude-|gpt-|o\d)/.test(name) || isKnownModel(name));
}

/** True for what the user's own settings call a model of a compatible server. */
function isServerName(name: string, { models = [], provider }: Readonly<DiligentConfig>): boolean {
  const listed = Object.values(provider?.compatible ?? {}).flatMap((server) => server.models ?? []);
  const aliases = listed.flatMap((model) => (typeof model === "string" ? [] : (model.aliases ?? [])));
  const isServers = (setting: ModelSetting) => aliases.includes(setting.id) || !isPublicSetting(setting);
  const isCalled = (setting: ModelSetting) => setting.id === name || setting.aliases?.includes(name);
  return aliases.includes(name) || models.some((setting) => isCalled(setting) && isServers(setting));
}

function isPublicSetting({ id, provider }: ModelSetting): boolean {
  if (provider !== undefined) return isPublicProvider(provider);
  return !id.replace(/^(?:anthropic|openai)\//, "").includes("/");
}

function isPublicProvider(provider: string): boolean {
  return provider === "anthropic" || provider === "openai";
}

type Provider = NonNullable<DiligentConfig["provider"]>;

function withoutKeys({ anthropic, openai, compatible }: Provider): Provider {
  return {
    ...(anthropic && { anthropic: withoutKey(anthropic) }),
    ...(openai && { openai: withoutKey(openai) }),
    ...(compatible && {
      compatible: Object.fromEntries(
        Object.entries(compatible).map(([name, server]) => [name, withoutKey(server)]),
      ),
    }),
  };
}

function withoutKey<T extends { apiKey?: string | undefined }>({ apiKey: _, ...rest }: T): Omit<T, "apiKey"> {
  return rest;
}
