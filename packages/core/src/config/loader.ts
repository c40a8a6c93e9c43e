import { findKnowledgeOrigin } from "../infrastructure/paths/knowledge.ts";
import { findProjectRoot } from "../infrastructure/paths/project.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/runtime.ts";
import type { SecretValue } from "../infrastructure/text/secret-redactor.ts";
import { ConfigError, type ConfigWarning } from "./errors.ts";
import type { UserLayer } from "./layers.ts";
import type { ProjectLayer, ProjectLayerOptions } from "./project-layer.ts";
import type { DiligentConfig } from "./schema.ts";
import { findSecretValues } from "./secret-values.ts";
import {
  type ConfigLayer,
  DEFAULT_CONFIG,
  flattenSettings,
  maskSetting,
  mayHoldConfig,
  mergeLayers,
  readEnvironmentLayers,
} from "./settings.ts";
import type { KnowledgeTrust, KnowledgeTrustOptions, TrustState } from "./trust.ts";
import type { TrustedProject } from "./trust-store.ts";

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
  /** Which servers of the Model Context Protocol are the project's. */
  servers: {
    /** The names of those in `config` that the project's file defines. */
    project: readonly string[];
    /** Those of the project's file that are ignored until the project is trusted. */
    untrusted: NonNullable<DiligentConfig["mcpServers"]>;
  };
  /** True if the project's file defines hooks. */
  definesHooks: boolean;
  /** The modules that the project's file names, trusted or not; those of the user are in `config`. */
  projectExtensions: readonly string[];
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
      user?.config.secrets,
    ),
    servers: {
      project: Object.keys(project?.layer?.config.mcpServers ?? {}),
      untrusted: project?.untrustedServers ?? {},
    },
    definesHooks: project?.definesHooks ?? false,
    projectExtensions: project?.extensions ?? [],
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
  return (await import("./trust.ts")).readKnowledgeTrust(options);
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

/** One effective setting of the configuration, ready to be shown. */
export interface DescribedSetting {
  /** Such as `compaction.pruning.keepLast`. */
  key: string;
  /** JSON data; keys are masked. */
  value: unknown;
  /** `default`, a file's path, `environment NAME`, or several separated by commas. */
  origin: string;
}

/** Every setting that has a value, sorted by name. */
export function describeConfig({
  config,
  origins,
}: Pick<LoadedConfig, "config" | "origins">): DescribedSetting[] {
  return [...flattenSettings(config)]
    .map(([key, value]) => ({ key, value: maskSetting(key, value), origin: origins[key] ?? "default" }))
    .sort((left, right) => (left.key < right.key ? -1 : 1));
}
