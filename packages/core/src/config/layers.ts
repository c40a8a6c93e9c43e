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

/** The user's own configuration. */
export interface UserLayer {
  path: string;
  realPath: string;
  config: DiligentConfig;
  warnings: ConfigWarning[];
}

/**
 * Reads the user's file; undefined where there is none.
 * @throws ConfigError with everything that is wrong with it.
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

/** True when a key itself is written there, not only the name of a variable that holds it. */
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
  /** Settings that do not exist, where those are skipped. */
  skipped: ConfigProblem[];
}

/** The effect of a project's file. */
export interface ProjectSettings extends ReadConfig {
  /** Settings that would apply if the project were trusted. */
  untrusted: string[];
  /** Names of models that no provider has. */
  unknownModels: UnknownModel[];
  /** Settings that apply from no project file. */
  refused: string[];
  /** Lists that contain the user's entries as well. */
  extended: string[];
}

/** The text as data, with variables unresolved, whether its settings are valid or not. @throws ConfigError */
export function readAsWritten({ text, path }: Pick<ConfigFile, "text" | "path">): ConfigDocument {
  const reading = readDocument(text, path, { kind: "keep" });
  if ("problems" in reading) throw new ConfigError(reading.problems);
  return reading.document;
}

/** @throws ConfigError with everything that is wrong with the file; with unknown settings too unless they are skipped. */
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

/** @throws ConfigError with everything that is wrong with the file. */
export function interpretTrusted(
  file: ConfigFile,
  { environment, user }: { environment: Environment; user: Readonly<DiligentConfig> },
): ProjectSettings {
  const { config, document, skipped } = readConfig(file, { kind: "fill", environment }, "skip");
  const own = removeUserSettings(config, user);
  return {
    ...{ config: own.config, document, skipped },
    ...{ untrusted: [], unknownModels: [], refused: own.ignored, extended: [] },
  };
}

/** @throws ConfigError with everything that is wrong with the file. */
export function interpretUntrusted(file: ConfigFile, context: RestrictionContext): ProjectSettings {
  const { config, document, skipped } = readConfig(file, { kind: "leave_out" }, "skip");
  const own = removeUserSettings(config, context.user);
  const safe = removeUntrustedSettings(own.config, context);
  const nameInFile = (key: string) => document.spots.get(key)?.key ?? key;
  const leftOut = new Set(document.leftOut.filter((key) => !isUserSetting(key)));
  return {
    config: safe.config,
    document,
    skipped,
    unknownModels: safe.unknownModels,
    untrusted: [...leftOut, ...safe.ignored.map(nameInFile)],
    refused: [...own.ignored.map(nameInFile), ...document.leftOut.filter(isUserSetting)],
    extended: safe.extended,
  };
}

/** What a project's configuration is restricted by. */
export interface RestrictionContext {
  /** The user's own configuration: an untrusted project may ask or refuse more than it does, never less. */
  user: Readonly<DiligentConfig>;
  /** True for an id or alias of a model whose provider is Anthropic or OpenAI themselves. */
  isKnownModel(id: string): boolean;
}

/** A setting that names a model which no provider has, and which nothing in the project's file could define. */
export interface UnknownModel {
  key: string;
  id: string;
}

/** A project's configuration without the settings it may not make; `ignored` names the removed ones. */
interface RestrictedConfig {
  config: DiligentConfig;
  ignored: string[];
  /** Lists that hold the user's own entries as well. */
  extended: string[];
}

/** The same for a project that is not trusted. */
interface UntrustedConfig extends RestrictedConfig {
  unknownModels: UnknownModel[];
}

// Settings that no project file decides: what commands may reach on this machine, and where the newest version is
// looked up.
const USER_SETTINGS = ["sandboxWritable", "inheritEnvironment", "updateUrl"] as const;

/** True for a setting, by its full name, that applies from no project file. */
function isUserSetting(key: string): boolean {
  return isKey(key) || USER_SETTINGS.some((setting) => key.startsWith(setting));
}

/**
 * Removes what no project file decides, trusted or not: the settings above, keys, and disabling a sandbox that the
 * user requires.
 */
function removeUserSettings(
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

/**
 * Removes what a project may not decide before the user trusts it: anything that sends data elsewhere, or allows
 * more than the user does.
 */
function removeUntrustedSettings(
  project: Readonly<DiligentConfig>,
  context: RestrictionContext,
): UntrustedConfig {
  const { provider, models, model, approval, sandbox, permissions, compaction, ...rest } = project;
  const { user } = context;
  const ignored = [...flattenSettings({ provider, models }).keys()];
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
  if (compaction !== undefined) {
    const { model: summaryModel, ...others } = compaction;
    config.compaction = others;
    if (summaryModel !== undefined && mayChoose("compaction.model", summaryModel))
      config.compaction.model = summaryModel;
  }
  const rules = permissions?.filter(({ action }, index) => keep(`permissions[${index}]`, action !== "allow"));
  // Before the user's own, so that these decide wherever both match.
  if (rules !== undefined)
    config.permissions = [...rules, ...(user.permissions ?? [])] satisfies PermissionRule[];
  const extended = rules !== undefined && user.permissions !== undefined ? ["permissions"] : [];
  return { config, ignored, extended, unknownModels };
}

// From lax to strict, with the default if the user has set nothing: a project may choose that or something stricter.
const APPROVALS = ["auto", "accept-edits", "ask", "deny", "plan"] as const;
const SANDBOXES = ["off", "auto", "required"] as const;

function isAsStrict<T extends string>(order: readonly T[], wanted: T, user: T): boolean {
  // Only the user may choose the laxest value.
  return order.indexOf(wanted) >= Math.max(1, order.indexOf(user));
}

/** True when the model is certainly one of the two public providers', at the address the user has set for it. */
function isPublicModel(id: string, { user, isKnownModel }: RestrictionContext): boolean {
  const name = id.replace(/^(?:anthropic|openai)\//, "");
  // What is left of a slash could name a compatible server or a script.
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
