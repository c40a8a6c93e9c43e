import {
  ConfigError,
  type Environment,
  findKnownModel,
  type LoadedConfig,
  type LoadOptions,
  loadDiligentConfig,
} from "@diligent/core/run";
import { orUsageError } from "./usage-error.ts";

/**
 * The configuration that holds in a directory.
 * @throws UsageError when a file is broken: with file, line, column and key.
 */
export async function loadConfig(
  cwd: string,
  environment: Environment,
  options: Pick<LoadOptions, "trustedOnce"> = {},
): Promise<LoadedConfig> {
  return orUsageError(() => loadDiligentConfig(cwd, environment, { isKnownModel, ...options }), ConfigError);
}

/** True for an id or alias of a model of a public provider. */
export function isKnownModel(id: string): boolean {
  return findKnownModel(id) !== undefined;
}
