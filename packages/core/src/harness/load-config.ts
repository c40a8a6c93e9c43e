import { ConfigError } from "../config/errors.ts";
import { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "../config/loader.ts";
import type { DiligentConfig } from "../config/schema.ts";
import { nearestNames } from "../infrastructure/nearest-name.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { DEFAULT_MODELS, findKnownModel, KNOWN_MODELS } from "../provider/models.ts";
import { orUsageError } from "./errors.ts";

/**
 * The configuration for a directory. The default model is one whose provider has a key, if there is one.
 * @throws UsageError if a file is invalid: with file, line, column and key.
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

/**
 * The configuration with the default model: that of the first provider with a key, in the order Anthropic, OpenAI,
 * compatible servers that list a model. Without any key it is the standard default, whose missing key is then reported.
 */
export function withDefaultModel(loaded: LoadedConfig): LoadedConfig {
  if (!isUnnamed(loaded)) return loaded;
  const model = findDefaultModel(loaded.config.provider);
  return model === undefined ? loaded : { ...loaded, config: { ...loaded.config, model } };
}

/** The reason why the default model is not the standard one; undefined if it is. */
export function describeDefaultModel(loaded: LoadedConfig): string | undefined {
  const { model } = loaded.config;
  if (!isUnnamed(loaded) || model === undefined || model === DEFAULT_MODELS.anthropic) return undefined;
  const provider = model === DEFAULT_MODELS.openai ? "openai" : model.split("/", 1)[0];
  return `there is a key for ${provider} and none for anthropic`;
}

function isUnnamed({ origins }: LoadedConfig): boolean {
  return (origins.model ?? "default") === "default";
}

function findDefaultModel(provider: DiligentConfig["provider"] = {}): string | undefined {
  if (provider.anthropic?.apiKey) return DEFAULT_MODELS.anthropic;
  if (provider.openai?.apiKey) return DEFAULT_MODELS.openai;
  for (const [name, { apiKey, models: [first] = [] }] of Object.entries(provider.compatible ?? {})) {
    if (apiKey && first !== undefined) return `${name}/${typeof first === "string" ? first : first.id}`;
  }
  return undefined;
}
