import { findKnowledgeOrigin } from "../infrastructure/knowledge-origin.ts";
import { findProjectRoot } from "../infrastructure/paths/project.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/runtime.ts";
import type { SecretValue } from "../infrastructure/text/secret-redactor.ts";
import { isHttpUrl, isLoopbackUrl } from "../infrastructure/urls.ts";
import { ConfigError, type ConfigProblem, type ConfigWarning } from "./errors.ts";
import type { KnowledgeTrust, KnowledgeTrustOptions } from "./knowledge-trust.ts";
import type { UserLayer } from "./layers.ts";
import type { ProjectLayer, ProjectLayerOptions } from "./project-layer.ts";
import type { DiligentConfig } from "./schema.ts";
import { type ConfigLayer, DEFAULT_CONFIG, mayHoldConfig, mergeLayers } from "./settings.ts";
import type { TrustedProject, TrustState } from "./trust.ts";

/** The effective configuration and its sources. */
export interface LoadedConfig {
  config: Readonly<DiligentConfig>;
  /** The files that were loaded, in order: later ones win. */
  sources: readonly string[];
  /** The source of each setting, by its full name: `default`, a file's path, or `environment NAME`. */
  origins: Readonly<Record<string, string>>;
  warnings: readonly ConfigWarning[];
  /** Settings of the project's file that are ignored, by name. */
  ignored: readonly string[];
  /** Whether the project's file is trusted; `none` without one. */
  trust: TrustState;
  /** Whether the project's knowledge is used. */
  knowledgeTrust: KnowledgeTrust;
  /** The keys of all layers, including overridden ones, and secrets of the environment. */
  secrets: readonly SecretValue[];
  /** The exact project directory, real. */
  projectRoot: string;
}

/** What determines how a project's configuration is read. */
export interface LoadOptions {
  /** True for an id or alias of a model of Anthropic or OpenAI; by default prefixes decide. */
  isKnownModel?: ((id: string) => boolean) | undefined;
  /** The nearest model name, for a name that no provider has. */
  findNearestModel?: ((id: string) => string | undefined) | undefined;
  /** A project that is trusted only this time, with exactly this content, from `describeTrust`. */
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/**
 * Loads the configuration for a working directory: defaults < the user's file < the project's file < environment.
 * Settings that an untrusted project may not make are left out and named in a warning. Nothing is ever written.
 * @throws ConfigError with all problems of all layers.
 */
export async function loadDiligentConfig(
  cwd: string,
  env: Environment = processEnvironment(),
  { isKnownModel = () => false, findNearestModel, trustedOnce }: LoadOptions = {},
): Promise<LoadedConfig> {
  const root = findProjectRoot(cwd, homeDirectory(env));
  const faults = new FaultCollector();
  const user = await faults.attempt(() => readUser(env));
  const project = await faults.attempt(() =>
    readProject(root, { environment: env, user, isKnownModel, findNearestModel, trustedOnce }),
  );
  const environmentLayers = await faults.attempt(async () => readEnvironmentLayers(env));
  faults.throwAll();
  const userLayer: ConfigLayer[] = user ? [{ origin: user.path, config: user.config }] : [];
  const files = [...userLayer, ...(project?.layer ? [project.layer] : [])];
  const layers = [{ origin: "default", config: DEFAULT_CONFIG }, ...files, ...(environmentLayers ?? [])];
  return {
    ...mergeLayers(layers),
    sources: files.map(({ origin }) => origin),
    warnings: [...(user?.warnings ?? []), ...(project?.warnings ?? [])],
    ignored: project?.ignored ?? [],
    trust: project?.trust ?? "none",
    knowledgeTrust: await readKnowledge({ root, environment: env, trustedOnce }),
    secrets: findSecretValues(
      layers.map(({ config }) => config),
      env,
    ),
    projectRoot: root,
  };
}

// Most projects have no configuration, and its reader takes longer to load than everything else here.

async function readUser(environment: Environment): Promise<UserLayer | undefined> {
  if (!mayHoldConfig(userConfigDirectory(environment))) return undefined;
  return (await import("./layers.ts")).readUserLayer(environment);
}

async function readProject(root: string, options: ProjectLayerOptions): Promise<ProjectLayer | undefined> {
  if (!mayHoldConfig(root)) return undefined;
  return (await import("./project-layer.ts")).readProjectLayer(root, options);
}

async function readKnowledge(options: KnowledgeTrustOptions): Promise<KnowledgeTrust> {
  const origin = findKnowledgeOrigin(options.root, options.environment);
  if (origin === "none" || origin === "own") return { state: origin };
  return (await import("./knowledge-trust.ts")).readKnowledgeTrust(options);
}

/** Reads every layer even after an error, so that all problems are reported at once. */
class FaultCollector {
  private readonly errors: ConfigError[] = [];

  async attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.errors.push(error);
      return undefined;
    }
  }

  throwAll(): void {
    if (this.errors.length > 0) throw new ConfigError(this.errors.flatMap(({ problems }) => problems));
  }
}

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
function readEnvironmentLayers(environment: Environment): ConfigLayer[] {
  const set = VARIABLES.flatMap((variable) => {
    const value = environment[variable.name]?.trim();
    return value ? [{ ...variable, value }] : [];
  });
  const problems = set
    .filter(({ isAddress, value }) => isAddress === true && !isHttpUrl(value))
    .map(({ name }): ConfigProblem => {
      return {
        source: `environment variable ${name}`,
        message: "must be an address such as https://host/v1",
      };
    });
  if (problems.length > 0) throw new ConfigError(problems);
  return set.map(({ name, value, toConfig }) => ({ origin: `environment ${name}`, config: toConfig(value) }));
}

/** Names of environment variables that usually contain a key or a password. */
const SECRET_NAME =
  /(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|_pass|_pwd|_auth|_pat)s?(?:_(?:id|base|base64|b64|\d+))?$/i;

// Shorter values are ordinary words.
const MIN_CHARS = 8;
// Values of letters only, such as `postgres` and `development`, are words up to this length.
const MIN_LETTERS = 12;
// Placeholders used for local servers without a key, such as `lm-studio` and `not-needed`, are not keys.
const MIN_LOCAL_CHARS = 20;

const ADDRESS_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i;

type ProviderKeys = Pick<DiligentConfig, "provider">;

/** The keys of the configured providers, and the values of environment variables whose names suggest a secret. */
export function findSecretValues(configs: readonly ProviderKeys[], environment: Environment): SecretValue[] {
  return [...configs.flatMap(findProviderKeys), ...findEnvironmentSecrets(environment)];
}

function findProviderKeys({ provider = {} }: ProviderKeys): SecretValue[] {
  const { compatible = {}, ...vendors } = provider;
  const ofVendors = Object.entries(vendors).flatMap(([name, access]) => toKeys(name, access ?? {}));
  const ofServers = Object.entries(compatible).flatMap(([name, { apiKey, baseUrl }]) =>
    isLoopbackUrl(baseUrl) && apiKey !== undefined && isPlaceholderKey(apiKey)
      ? toKeys(name, { baseUrl })
      : toKeys(name, { apiKey, baseUrl }),
  );
  return [...ofVendors, ...ofServers];
}

function toKeys(
  name: string,
  { apiKey, baseUrl }: { apiKey?: string | undefined; baseUrl?: string | undefined },
): SecretValue[] {
  const values = [apiKey?.trim(), passwordIn(baseUrl)];
  return values
    .flatMap((value) => (value !== undefined && value.length >= MIN_CHARS ? [value] : []))
    .map((value) => ({ value, placeholder: `[key of ${name}]` }));
}

function isPlaceholderKey(key: string): boolean {
  return key.length < MIN_LOCAL_CHARS && !/\d/.test(key);
}

function findEnvironmentSecrets(environment: Environment): SecretValue[] {
  return Object.entries(environment).flatMap(([name, text]) => {
    const value = SECRET_NAME.test(name) ? text?.trim() : passwordIn(text);
    return value !== undefined && isDistinctive(value) ? [{ value, placeholder: `[value of ${name}]` }] : [];
  });
}

/** False for words, numbers and paths, which appear in texts for other reasons. */
function isDistinctive(value: string): boolean {
  if (value.length < MIN_CHARS || /^(?:\.{0,2}|~)\//.test(value)) return false;
  return value.length >= MIN_LETTERS || !/^(?:[a-z]+|\d+)$/i.test(value);
}

function passwordIn(address: string | undefined): string | undefined {
  return address === undefined ? undefined : ADDRESS_WITH_PASSWORD.exec(address)?.[1];
}
