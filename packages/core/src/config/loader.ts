import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/environment.ts";
import { findProjectRoot } from "../infrastructure/places/project-root.ts";
import { userConfigDirectory } from "../infrastructure/places/user-directories.ts";
import { ConfigError, type ConfigWarning } from "./config-error.ts";
import { mayHoldConfig } from "./config-names.ts";
import { DEFAULT_CONFIG } from "./default-config.ts";
import { readEnvironmentLayers } from "./environment-layers.ts";
import { type ConfigLayer, mergeLayers } from "./merge.ts";
import type { ProjectLayer, ProjectLayerOptions } from "./project-layer.ts";
import type { DiligentConfig } from "./schema.ts";
import type { TrustState } from "./trust.ts";
import type { TrustedProject } from "./trust-store.ts";
import type { UserLayer } from "./user-layer.ts";

/** The configuration that holds, and how it came about. */
export interface LoadedConfig {
  config: Readonly<DiligentConfig>;
  /** The files that were loaded, in order: later ones win. */
  sources: readonly string[];
  /** Where each setting comes from, by its full name: `default`, a file's path, or `environment NAME`. */
  origins: Readonly<Record<string, string>>;
  warnings: readonly ConfigWarning[];
  /** Settings of the project's file that do not count, by name. */
  ignored: readonly string[];
  /** Whether the project's file is trusted; `none` without one. */
  trust: TrustState;
  /** The exact directory whose file was looked for, real. */
  projectRoot: string;
}

/** What decides how a project's configuration is read. */
export interface LoadOptions {
  /** True for an id or alias of a model of Anthropic's or OpenAI's own; by default none is known, and prefixes decide. */
  isKnownModel?: ((id: string) => boolean) | undefined;
  /** A project that counts as trusted for this once, with exactly this content; as `describeTrust` gives it. */
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/**
 * Loads the configuration for a working directory: defaults < the user's file < the project's file < environment. What
 * an untrusted project may not say is left out of it and named in a warning. Nothing is ever written.
 * @throws ConfigError with everything that is wrong with any of them.
 */
export async function loadDiligentConfig(
  cwd: string,
  env: Environment = processEnvironment(),
  { isKnownModel = () => false, trustedOnce }: LoadOptions = {},
): Promise<LoadedConfig> {
  const root = findProjectRoot(cwd, homeDirectory(env));
  const faults = new FaultCollector();
  const user = await faults.attempt(() => readUser(env));
  const project = await faults.attempt(() =>
    readProject(root, { environment: env, user, isKnownModel, trustedOnce }),
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
    projectRoot: root,
  };
}

// Most projects have no configuration, and what reads one takes longer to load than everything else here.

async function readUser(environment: Environment): Promise<UserLayer | undefined> {
  if (!mayHoldConfig(userConfigDirectory(environment))) return undefined;
  return (await import("./user-layer.ts")).readUserLayer(environment);
}

async function readProject(root: string, options: ProjectLayerOptions): Promise<ProjectLayer | undefined> {
  if (!mayHoldConfig(root)) return undefined;
  return (await import("./project-layer.ts")).readProjectLayer(root, options);
}

/** Lets every layer be read, so that all that is wrong is told at once. */
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
