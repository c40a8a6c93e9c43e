import { join } from "node:path";
import { entryExists } from "../infrastructure/fs/read.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { isHttpUrl } from "../infrastructure/urls.ts";
import { ConfigError, type ConfigProblem, formatKey } from "./errors.ts";
import type { DiligentConfig } from "./schema.ts";

/**
 * The settings of a configuration by their full names, such as `session.autoResume`, in file order. A list is one
 * setting; an empty object is none.
 */
export function flattenSettings(config: object, path: readonly string[] = []): Map<string, unknown> {
  const settings = new Map<string, unknown>();
  for (const [name, value] of Object.entries(config)) {
    const here = [...path, name];
    if (!isPlainObject(value)) {
      if (value !== undefined) settings.set(formatKey(here), value);
      continue;
    }
    for (const [key, leaf] of flattenSettings(value, here)) settings.set(key, leaf);
  }
  return settings;
}

/** True for a plain object: neither null nor a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const MASK = "********";

/**
 * A setting's value for display: keys, and the parts of addresses that may contain secrets, are replaced by asterisks.
 */
export function maskSetting(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => maskSetting("", element));
  if (isPlainObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskSetting(name, inner)]));
  }
  if (typeof value !== "string" || value === "") return value;
  const name = key.slice(key.lastIndexOf(".") + 1);
  const isServers = /^mcpServers[.[]/.test(key);
  if (name === "apiKey" || (isServers && SERVER_SECRET.test(key))) return holdsVariable(value) ? value : MASK;
  const isAddress = name === "baseUrl" || name === "updateUrl" || (isServers && name === "url");
  return isAddress ? maskAddress(value) : value;
}

// The values of a server's environment and headers, and its client's secret.
const SERVER_SECRET = /\.(?:env|headers)(?:\.|\[)|\.clientSecret$/;

/** An address without user name, password and query, which may contain secrets. */
export function maskAddress(address: string): string {
  return address.replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${MASK}@`).replace(/\?.*$/s, `?${MASK}`);
}

const VARIABLE = /\{env:([^{}]+)\}/g;

/** True when the text contains an `{env:NAME}`. */
export function holdsVariable(text: string): boolean {
  return text.search(VARIABLE) !== -1;
}

/**
 * Replaces `{env:NAME}` by the values of environment variables. An unset variable becomes empty and is passed to
 * `onUnset`. Values are not expanded again: an `{env:…}` in one of them stays.
 */
export function substituteVariables(
  text: string,
  environment: Environment,
  onUnset: (name: string) => void,
): string {
  return text.replace(VARIABLE, (_, written: string) => {
    const name = written.trim();
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined) onUnset(name);
    return value ?? "";
  });
}

/** The names of a configuration file. */
export const CONFIG_NAMES = ["diligent.jsonc", "diligent.json"] as const;

/** True unless it is certain that a directory holds no configuration. */
export function mayHoldConfig(directory: string | undefined): boolean {
  if (directory === undefined) return false;
  try {
    return CONFIG_NAMES.some((name) => entryExists(join(directory, name)));
  } catch {
    // Reading the directory reports the error.
    return true;
  }
}

/** One layer of the configuration. `origin` is its source: `default`, a path, `environment NAME`. */
export interface ConfigLayer {
  origin: string;
  config: Readonly<DiligentConfig>;
  /** Lists of this layer that include the entries of an earlier layer. */
  extended?: readonly string[];
}

/**
 * A new configuration in which `override` takes precedence: objects are merged at any depth, `instructions` of both are
 * kept without repeats, anything else is replaced, and so is each entry of `mcpServers`.
 */
export function mergeConfig(
  base: Readonly<DiligentConfig>,
  override: Readonly<DiligentConfig>,
): DiligentConfig {
  const merged = mergeObjects(base, override);
  // A server is replaced as a whole: the headers of one must not reach the address of another one.
  const servers = { ...base.mcpServers, ...override.mcpServers };
  const instructions = [...new Set([...(base.instructions ?? []), ...(override.instructions ?? [])])];
  return {
    ...merged,
    ...(Object.keys(servers).length > 0 && { mcpServers: structuredClone(servers) }),
    ...(instructions.length > 0 && { instructions }),
  };
}

/** All layers merged, later ones taking precedence, with the source of each setting. */
export function mergeLayers(layers: readonly ConfigLayer[]): {
  config: DiligentConfig;
  origins: Record<string, string>;
} {
  let config: DiligentConfig = {};
  const origins: Record<string, string> = {};
  for (const { origin, config: layer, extended = [] } of layers) {
    config = mergeConfig(config, layer);
    for (const key of flattenSettings(layer).keys()) {
      const earlier = key === "instructions" || extended.includes(key) ? origins[key] : undefined;
      origins[key] = earlier === undefined ? origin : `${earlier}, ${origin}`;
    }
  }
  return { config, origins };
}

/** A new object at every depth: nothing in it is shared with `base` or `override`. */
function mergeObjects<T extends object>(base: T, override: T): T {
  const before = new Map<string, unknown>(Object.entries(base));
  const changes = Object.entries(override).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const old = before.get(name);
    if (!isPlainObject(value)) return [[name, structuredClone(value)]];
    return [[name, mergeObjects(isPlainObject(old) ? old : {}, value)]];
  });
  return Object.assign(structuredClone(base), Object.fromEntries(changes));
}

/**
 * The defaults. Numbers that depend on the model's window are not here: they are scaled when the window is known, while
 * a configured number is used as it is. `approval` is missing too, because it depends on whether a user is present to
 * be asked. The numbers of `pruning` are those of the compaction plan.
 */
export const DEFAULT_CONFIG: Readonly<DiligentConfig> = {
  // The provider's DEFAULT_MODEL, which this folder may not import; a test keeps the two equal.
  model: "claude-sonnet-5-5",
  session: { autoResume: false },
  record: false,
  knowledge: { enabled: true, flushBeforeCompaction: true },
  compaction: {
    enabled: true,
    maxContextTokens: 200_000,
    pruning: {
      enabled: true,
      softTrimChars: 4_000,
      softTrimHead: 1_500,
      softTrimTail: 1_500,
      hardClearAfter: 6,
      keepLast: 2,
      startRatio: 0.5,
    },
  },
  terminal: { title: true, notify: "auto" },
  sandbox: "auto",
};

interface Variable {
  name: string;
  isAddress?: boolean;
  toConfig(value: string): DiligentConfig;
}

const VARIABLES: readonly Variable[] = [
  { name: "ANTHROPIC_API_KEY", toConfig: (apiKey) => ({ provider: { anthropic: { apiKey } } }) },
  {
    name: "ANTHROPIC_BASE_URL",
    isAddress: true,
    toConfig: (baseUrl) => ({ provider: { anthropic: { baseUrl } } }),
  },
  { name: "OPENAI_API_KEY", toConfig: (apiKey) => ({ provider: { openai: { apiKey } } }) },
  {
    name: "OPENAI_BASE_URL",
    isAddress: true,
    toConfig: (baseUrl) => ({ provider: { openai: { baseUrl } } }),
  },
  { name: "DILIGENT_MODEL", toConfig: (model) => ({ model }) },
];

/**
 * The settings of the environment, one layer for each variable. Empty variables count as not set. @throws ConfigError
 * for an invalid address: data would be sent to the wrong place.
 */
export function readEnvironmentLayers(environment: Environment): ConfigLayer[] {
  const problems = readSetVariables(environment)
    .filter(({ isAddress, value }) => isAddress === true && !isHttpUrl(value))
    .map(({ name }): ConfigProblem => {
      return {
        source: `environment variable ${name}`,
        message: "must be an address such as https://host/v1",
      };
    });
  if (problems.length > 0) throw new ConfigError(problems);
  return toEnvironmentLayers(environment);
}

/** The same without looking at the addresses. */
export function toEnvironmentLayers(environment: Environment): ConfigLayer[] {
  return readSetVariables(environment).map(({ name, value, toConfig }) => ({
    origin: `environment ${name}`,
    config: toConfig(value),
  }));
}

function readSetVariables(environment: Environment): (Variable & { value: string })[] {
  return VARIABLES.flatMap((variable) => {
    const value = environment[variable.name]?.trim();
    return value ? [{ ...variable, value }] : [];
  });
}

/** A setting that differs from the trusted state; a missing side did not exist. */
export interface ChangedSetting {
  key: string;
  before?: string;
  after?: string;
}

/** The differences between two sets of shown settings, sorted by name. */
export function compareSettings(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): ChangedSetting[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].sort().flatMap((key) => {
    const [old, current] = [before[key], after[key]];
    if (old === current) return [];
    return [
      { key, ...(old !== undefined && { before: old }), ...(current !== undefined && { after: current }) },
    ];
  });
}
