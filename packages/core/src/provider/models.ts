import { KNOWN_MODELS, type ModelDefinition, type ModelLimit } from "./models/known-models.ts";
import type { Model, ThinkingSupport } from "./types.ts";

export { KNOWN_MODELS, type ModelDefinition, type ModelLimit };

/** The default model. */
export const DEFAULT_MODEL = "claude-sonnet-5-5";

/** The default model of each provider, used if only that provider has a key. */
export const DEFAULT_MODELS = { anthropic: DEFAULT_MODEL, openai: "gpt-6.2-sol" } as const;

const PROVIDER_PREFIXES: readonly { provider: string; pattern: RegExp }[] = [
  { provider: "anthropic", pattern: /^claude-/ },
  { provider: "openai", pattern: /^(gpt-|o\d)/ },
];

/** Thrown for an invalid model setting. */
export class ModelSettingError extends Error {
  override name = "ModelSettingError";

  /**
   * @param key such as `models[0].aliases[1]`.
   *
   * @param problem what is wrong, and what to do.
   */
  constructor(
    readonly key: string,
    problem: string,
  ) {
    super(`key "${key}": ${problem}`);
  }
}

/** The parts of a configuration that concern models. */
export interface CatalogSettings {
  /** Models that are added or corrected; `provider` as in `ModelDefinition`, by default derived from the id. */
  models?: readonly (ModelFigures & { provider?: string | undefined })[] | undefined;
  /** Compatible servers by name, with the models they list: an id alone, or a model with its properties. */
  compatible?:
    | Readonly<Record<string, { models?: readonly (string | ModelFigures)[] | undefined }>>
    | undefined;
}

/** All models: the known ones, corrected and extended by the configuration. */
export interface ModelCatalog {
  /** The model with this id or alias, or any `NAME/MODEL` of a configured server. */
  find(idOrAlias: string): ModelDefinition | undefined;
  /** The same; for any other id, the result of `resolveModel`. */
  resolve(idOrAlias: string): Model;
  /** All known or listed models, grouped by provider. */
  list(): readonly ModelDefinition[];
}

/**
 * The models for a configuration. The code that reads model settings is loaded only if there are any.
 *
 * @throws ModelSettingError for an invalid setting.
 */
export async function loadModelCatalog(settings: CatalogSettings = {}): Promise<ModelCatalog> {
  if (settings.models === undefined && settings.compatible === undefined) return KNOWN_CATALOGUE;
  return (await import("./models/catalog.ts")).createModelCatalog(settings);
}

const KNOWN_CATALOGUE: ModelCatalog = {
  find: findKnownModel,
  resolve: resolveModel,
  list: () => KNOWN_MODELS,
};

/** The known model with this id or alias; also accepts `anthropic/ID` and `openai/ID`. */
export function findKnownModel(idOrAlias: string): ModelDefinition | undefined {
  const { provider, id } = splitProvider(idOrAlias);
  return KNOWN_MODELS.find(
    (model) =>
      (model.id === id || model.aliases?.includes(id)) &&
      (provider === undefined || model.provider === provider),
  );
}

/** The provider of an id, from its own prefix or from `PROVIDER/`, whether or not the model is known. */
export function inferProvider(modelId: string): string | undefined {
  const { provider, id } = splitProvider(modelId);
  return provider ?? PROVIDER_PREFIXES.find(({ pattern }) => pattern.test(id))?.provider;
}

/**
 * The model for an id or alias. An unknown id gets its provider from its prefix, by default Anthropic, conservative
 * limits, and an unknown price.
 */
export function resolveModel(modelId: string): Model {
  const known = findKnownModel(modelId);
  return known ? toModel(known) : assumeModel(modelId);
}

/** The model without the fields that only a list of models needs. */
export function toModel({ aliases: _, assumed: __, ...model }: ModelDefinition): Model {
  return model;
}

/** The model for an id that reveals at most its provider. */
export function assumeModel(modelId: string): Model {
  const { id } = splitProvider(modelId);
  const provider = inferProvider(modelId) ?? "anthropic";
  return { id, provider, contextWindow: provider === "openai" ? 128_000 : 200_000, maxOutputTokens: 16_384 };
}

/** Splits `anthropic/ID` and `openai/ID`; any other id stays whole. */
export function splitProvider(modelId: string): { provider?: string; id: string } {
  const match = /^(anthropic|openai)\/(.+)$/.exec(modelId);
  const [, provider, id] = match ?? [];
  return provider !== undefined && id !== undefined ? { provider, id } : { id: modelId };
}

/** A model as configured; units as in `Model`. Missing fields keep their known or assumed values. */
export interface ModelFigures {
  id: string;
  aliases?: readonly string[] | undefined;
  contextWindow?: number | undefined;
  maxOutputTokens?: number | undefined;
  inputCostPer1M?: number | undefined;
  outputCostPer1M?: number | undefined;
  cacheReadCostPer1M?: number | undefined;
  cacheWriteCostPer1M?: number | undefined;
  thinking?: ThinkingSupport | undefined;
}
