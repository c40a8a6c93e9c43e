import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import {
  type ConfigDocument,
  type ConfigFile,
  describeDocument,
  readConfigFile,
  readDocument,
  type VariableUse,
} from "./document.ts";
import { ConfigError, type ConfigProblem, type ConfigWarning } from "./errors.ts";
import type { DiligentConfig, ModelSetting, PermissionRule } from "./schema.ts";
import { flattenSettings, isPlainObject, maskSetting } from "./settings.ts";
import { type UnknownSettings, validateDocument } from "./validate.ts";

/** The user's configuration. */
export interface UserLayer {
  path: string;
  realPath: string;
  config: DiligentConfig;
  warnings: ConfigWarning[];
}

/**
 * Reads the user's file; undefined without one.
 * @throws ConfigError with all problems of the file.
 */
export async function readUserLayer(environment: Environment): Promise<UserLayer | undefined> {
  const directory = userConfigDirectory(environment);
  const file = directory === undefined ? undefined : await readConfigFile(directory);
  if (file === undefined) return undefined;
  const { config, document } = readConfig(file, { kind: "fill", environment });
  const warnings = describeDocument(document);
  if (file.concern !== undefined) {
    const message = `${file.path}: other users can change your configuration: ${file.concern}`;
    warnings.push({ code: "config_not_private", message });
  }
  if (file.isOpenToOthers && holdsSecret(readAsWritten(file).value)) {
    const message = `${file.path} contains a key and can be read by other users; run chmod 600 on it`;
    warnings.push({ code: "config_not_private", message });
  }
  return { path: file.path, realPath: file.realPath, config, warnings };
}

/** True when the file contains a key itself, not only the name of a variable with the key. */
function holdsSecret(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  return [...flattenSettings(value)].some(
    ([key, setting]) => typeof setting === "string" && maskSetting(key, setting) !== setting,
  );
}

/** A file's settings with the text they were read from. */
interface ReadConfig {
  config: DiligentConfig;
  document: ConfigDocument;
  /** Unknown settings, if those are skipped. */
  skipped: ConfigProblem[];
}

/** The effect of a project's file. */
export interface ProjectSettings extends ReadConfig {
  /** Settings that would apply if the project were trusted. */
  untrusted: string[];
  /** Names of models that no provider has. */
  unknownModels: UnknownModel[];
  /** Settings that only the user's own file may set. */
  refused: string[];
  /** Lists that contain the user's entries as well. */
  extended: string[];
  /** The modules that it names; each of them needs trust of its own. */
  extensions: readonly string[];
  /** Servers that would be used if the project were trusted. */
  untrustedServers?: Servers | undefined;
}

/** Parses the text without resolving variables, even if its settings are invalid. @throws ConfigError */
export function readAsWritten({ text, path }: Pick<ConfigFile, "text" | "path">): ConfigDocument {
  const reading = readDocument(text, path, { kind: "keep" });
  if ("problems" in reading) throw new ConfigError(reading.problems);
  return reading.document;
}

/** @throws ConfigError with all problems of the file; unknown settings are problems unless they are skipped. */
export function readConfig(
  { text, path }: Pick<ConfigFile, "text" | "path">,
  variables: VariableUse,
  unknownSettings: UnknownSettings = "refuse",
): ReadConfig {
  const reading = readDocument(text, path, variables);
  if ("problems" in reading) throw new ConfigError(reading.problems);
  const checked = validateDocument(reading.document, unknownSettings);
  if ("problems" in checked) throw new ConfigError(checked.problems);
  return { config: checked.config, document: reading.document, skipped: checked.skipped };
}

/** @throws ConfigError with all problems of the file. */
export function interpretTrusted(
  file: ConfigFile,
  { environment, user }: { environment: Environment; user: Readonly<DiligentConfig> },
): ProjectSettings {
  const { config, document, skipped } = readConfig(file, { kind: "fill", environment }, "skip");
  const own = removeUserSettings(config, user);
  return {
    ...{ ...addUserRules(own.config, user), document, skipped, extensions: config.extensions ?? [] },
    ...{ untrusted: [], unknownModels: [], refused: own.ignored },
  };
}

/** @throws ConfigError with all problems of the file. */
export function interpretUntrusted(file: ConfigFile, context: RestrictionContext): ProjectSettings {
  const { config, document, skipped } = readConfig(file, { kind: "leave_out" }, "skip");
  const own = removeUserSettings(config, context.user);
  const safe = removeUntrustedSettings(own.config, context);
  const nameInFile = (key: string) => document.locations.get(key)?.key ?? key;
  const leftOut = new Set(document.leftOut.filter((key) => !isUserSetting(key)));
  return {
    ...addUserRules(safe.config, context.user),
    document,
    skipped,
    unknownModels: safe.unknownModels,
    untrusted: [...leftOut, ...safe.ignored.map(nameInFile)],
    refused: [...own.ignored.map(nameInFile), ...document.leftOut.filter(isUserSetting)],
    extensions: config.extensions ?? [],
    untrustedServers: own.config.mcpServers,
  };
}

/** The user's settings that restrict a project's configuration. */
export interface RestrictionContext {
  /** The user's own configuration: an untrusted project may require more approvals than it does, never fewer. */
  user: Readonly<DiligentConfig>;
  /** True for an id or alias of a model of Anthropic or OpenAI. */
  isKnownModel(id: string): boolean;
}

/** A setting that names a model which no provider has, and which the project's file could not define. */
export interface UnknownModel {
  key: string;
  id: string;
}

/** A project's configuration without the settings that it may not make; `ignored` names the removed ones. */
interface RestrictedConfig {
  config: DiligentConfig;
  ignored: string[];
}

/** The configuration of a project that is not trusted. */
interface UntrustedConfig extends RestrictedConfig {
  unknownModels: UnknownModel[];
}

// Settings that no project file may make: what commands may access on this machine, and the address for update checks.
const USER_SETTINGS = [
  "history",
  "budget",
  "sandboxWritable",
  "inheritEnvironment",
  "updateUrl",
  "rules",
  "secrets",
] as const;

/** True for the full name of a setting that no project file may make. */
function isUserSetting(key: string): boolean {
  return isKey(key) || USER_SETTINGS.some((setting) => key.startsWith(setting));
}

/**
 * Removes settings that no project file may make, trusted or not: the settings above, keys, and disabling a sandbox
 * that the user requires. Hooks of a project are added to those of the user once they are trusted, and never replace them.
 */
function removeUserSettings(
  project: Readonly<DiligentConfig>,
  user: Readonly<DiligentConfig>,
): RestrictedConfig {
  // Extensions and hooks are trusted by their own content.
  const { provider, sandbox, mcpServers, hooks: _, extensions: __, ...rest } = project;
  const isLessStrict = user.sandbox === "required" && sandbox !== "required";
  for (const setting of USER_SETTINGS) delete rest[setting];
  const refused = {
    ...Object.fromEntries(USER_SETTINGS.map((setting) => [setting, project[setting]])),
    provider,
    sandbox: isLessStrict ? sandbox : undefined,
  };
  const servers = mcpServers && removeServerRights(mcpServers);
  const ignored = [
    ...[...flattenSettings(refused).keys()].filter((key) => !key.startsWith("provider.") || isKey(key)),
    ...(servers?.ignored ?? []),
  ];
  return {
    config: {
      ...rest,
      ...(servers && { mcpServers: servers.servers }),
      ...(sandbox !== undefined && !isLessStrict && { sandbox }),
      ...(provider !== undefined && { provider: withoutKeys(provider) }),
    },
    ignored,
  };
}

/**
 * The rules of a project are placed before those of the user, which therefore decide where both match: a project adds
 * rules, trusted or not, and overrides none of the user's.
 */
function addUserRules(
  project: DiligentConfig,
  user: Readonly<DiligentConfig>,
): Pick<ProjectSettings, "config" | "extended"> {
  if (project.permissions === undefined || user.permissions === undefined)
    return { config: project, extended: [] };
  const permissions: PermissionRule[] = [...project.permissions, ...user.permissions];
  return { config: { ...project, permissions }, extended: ["permissions"] };
}

type Servers = NonNullable<DiligentConfig["mcpServers"]>;

/** A project cannot give rights to its own servers. */
function removeServerRights(mcpServers: Servers): { servers: Servers; ignored: string[] } {
  const entries = Object.entries(mcpServers);
  const rights = entries.map(([name, { trusted, sampling }]): [string, object] => [
    name,
    { trusted, sampling },
  ]);
  return {
    servers: Object.fromEntries(
      entries.map(([name, { trusted: _, sampling: __, ...server }]): [string, Servers[string]] => [
        name,
        server,
      ]),
    ),
    ignored: [...flattenSettings({ mcpServers: Object.fromEntries(rights) }).keys()],
  };
}

function isKey(name: string): boolean {
  return name.endsWith(".apiKey");
}

/**
 * Removes settings that a project may not make before the user trusts it: anything that sends data elsewhere, or allows
 * more than the user does.
 */
function removeUntrustedSettings(
  project: Readonly<DiligentConfig>,
  context: RestrictionContext,
): UntrustedConfig {
  const { provider, models, agents, agentLimits, mcpServers, webSearch, checks, ...others } = project;
  const { formatters, lsp, ...chosen } = others;
  const { model, approval, sandbox, sandboxNetwork, permissions, compaction, ...rest } = chosen;
  const { user } = context;
  const ignored = [
    ...flattenSettings({ provider, models, agents, agentLimits, mcpServers, checks, formatters, lsp }).keys(),
  ];
  const config: DiligentConfig = { ...rest };
  const keep = (key: string, isAllowed: boolean) => {
    if (!isAllowed) ignored.push(key);
    return isAllowed;
  };
  const unknownModels: UnknownModel[] = [];
  const mayChoose = (key: string, id: string) => {
    if (isPublicModel(id, context)) return true;
    if (isUnknownModel(id, { project, context })) unknownModels.push({ key, id });
    else ignored.push(key);
    return false;
  };
  if (model !== undefined && mayChoose("model", model)) config.model = model;
  if (approval !== undefined && keep("approval", isAsStrict(APPROVALS, approval, user.approval ?? "ask")))
    config.approval = approval;
  if (sandbox !== undefined && keep("sandbox", isAsStrict(SANDBOXES, sandbox, user.sandbox ?? "auto")))
    config.sandbox = sandbox;
  if (sandboxNetwork !== undefined && keep("sandboxNetwork", sandboxNetwork === "off"))
    config.sandboxNetwork = sandboxNetwork;
  // A search costs money, and its words leave this machine.
  if (webSearch !== undefined && keep("webSearch", !webSearch)) config.webSearch = webSearch;
  if (compaction !== undefined) {
    const { model: summaryModel, ...limits } = compaction;
    config.compaction = limits;
    if (summaryModel !== undefined && mayChoose("compaction.model", summaryModel))
      config.compaction.model = summaryModel;
  }
  const rules = permissions?.filter(({ action }, index) => keep(`permissions[${index}]`, action !== "allow"));
  if (rules !== undefined) config.permissions = rules;
  return { config, ignored, unknownModels };
}

// From lax to strict. A project may choose the user's value, or the default, or a stricter one.
const APPROVALS = ["auto", "accept-edits", "ask", "deny", "plan"] as const;
const SANDBOXES = ["off", "auto", "required"] as const;

function isAsStrict<T extends string>(order: readonly T[], wanted: T, user: T): boolean {
  // Only the user may choose the least strict value.
  return order.indexOf(wanted) >= Math.max(1, order.indexOf(user));
}

/**
 * True when the model certainly belongs to one of the two public providers, at the address that the user has set for
 * it.
 */
function isPublicModel(id: string, { user, isKnownModel }: RestrictionContext): boolean {
  const name = id.replace(/^(?:anthropic|openai)\//, "");
  // A name with a slash may mean a compatible server or a script.
  if (name.includes("/")) return false;
  return !isServerName(name, user) && (/^(?:claude-|gpt-|o\d)/.test(name) || isKnownModel(name));
}

/** True for a name that would not be a model even if the project were trusted. */
function isUnknownModel(
  id: string,
  { project, context }: { project: Readonly<DiligentConfig>; context: RestrictionContext },
): boolean {
  if (id.includes("/")) return false;
  const isCalled = ({ models = [], provider }: Readonly<DiligentConfig>) =>
    Object.hasOwn(provider?.compatible ?? {}, id) ||
    models.some((setting) => setting.id === id || setting.aliases?.includes(id)) ||
    isServerName(id, { models, provider });
  return !isCalled(project) && !isCalled(context.user);
}

/** True for a model that the user's own settings assign to a compatible server. */
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
