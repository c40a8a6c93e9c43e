import {
  ConfigError,
  type Environment,
  findKnownModel,
  type LoadedConfig,
  loadDiligentConfig,
} from "@diligent/core/run";
import { UsageError } from "./usage-error.ts";

/**
 * The configuration that holds in a directory.
 * @throws UsageError when a file is broken: with file, line, column and key.
 */
export async function loadConfig(cwd: string, environment: Environment): Promise<LoadedConfig> {
  return orUsageError(() => loadDiligentConfig(cwd, environment, { isKnownModel }));
}

/** True for an id or alias of a model of a public provider. */
export function isKnownModel(id: string): boolean {
  return findKnownModel(id) !== undefined;
}

export async function orUsageError<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message);
    throw error;
  }
}
