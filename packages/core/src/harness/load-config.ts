import { ConfigError } from "../config/errors.ts";
import { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "../config/loader.ts";
import { nearestNames } from "../infrastructure/nearest-name.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { findKnownModel, KNOWN_MODELS } from "../provider/models.ts";
import { withDefaultModel } from "./default-model.ts";
import { orUsageError } from "./errors.ts";

/**
 * The configuration for a directory. The default model is one whose provider has a key, if any has.
 * @throws UsageError if a file is broken: with file, line, column and key.
 */
export async function loadConfig(
  cwd: string,
  environment: Environment,
  options: Pick<LoadOptions, "trustedOnce"> = {},
): Promise<LoadedConfig> {
  const load = () => loadDiligentConfig(cwd, environment, { isKnownModel, findNearestModel, ...options });
  return withDefaultModel(await orUsageError(load, ConfigError));
}

function findNearestModel(id: string): string | undefined {
  const names = KNOWN_MODELS.flatMap((model) => [model.id, ...(model.aliases ?? [])]);
  return nearestNames(id, names, 1)[0];
}

/** True for an id or alias of a model of a public provider. */
export function isKnownModel(id: string): boolean {
  return findKnownModel(id) !== undefined;
}
