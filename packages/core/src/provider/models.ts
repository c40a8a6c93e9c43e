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

/** What a configuration says of a model cannot be meant. */
export class ModelSettingError extends Error {
  override name = "ModelSettingError";

  /**
   * @param key such as `models[0].aliases[1]`.
   * @param problem what is wrong with it, and what to do.
   */
  constructor(
    readonly key: string,
    problem: string,
  ) {
    super(`key "${key}": ${problem}`);
  }
}

/** The parts of a configuration that speak of models. */
export interface CatalogSettings {
  /** Models that are added to the known ones or corrected; `provider` as in `ModelDefinition`, by default what the id says. */
  models?: readonly (ModelFigures & { provider?: string | undefined })[] | undefined;
  /** Compatible servers by name, with the models they list: an id alone, or what is known of the model. */
  compatible?:
    | Readonly<Record<string, { models?: readonly (string | ModelFigures)[] | undefined }>>
    | undefined;
}

/** The models there are: the known ones, and what a configuration says of them and of further ones. */
export interface ModelCatalog {
  /** The model with this id or alias; also any `NAME/MODEL` of a server that is configured. */
  find(idOrAlias: string): ModelDefinition | undefined;
  /** The same, and for everything else what `resolveModel` makes of it. */
  resolve(idOrAlias: string): Model;
  /** All models that are known or listed, those of one provider next to each other. */
  list(): readonly ModelDefinition[];
}

/**
 * The models that hold for a configuration. What reads one is loaded only where it says something about models.
 * @throws ModelSettingError for a setting that cannot be meant.
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

/** The model with this id or alias among the known ones; `anthropic/ID` and `openai/ID` are accepted too. */
export function findKnownModel(idOrAlias: string): ModelDefinition | undefined {
  const { provider, id } = splitProvider(idOrAlias);
  return KNOWN_MODELS.find(
    (model) =>
      (model.id === id || model.aliases?.includes(id)) &&
      (provider === undefined || model.provider === provider),
  );
}

/** The provider that an id belongs to by its own prefix or by `PROVIDER/`, whether the model is known or not. */
export function inferProvider(modelId: string): string | undefined {
  const { provider, id } = splitProvider(modelId);
  return provider ?? PROVIDER_PREFIXES.find(({ pattern }) => pattern.test(id))?.provider;
}

/**
 * A model for an id or alias. An unknown id gets its provider from its prefix, else Anthropic, and cautious limits;
 * what it costs is unknown then.
 */
export function resolveModel(modelId: string): Model {
  const known = findKnownModel(modelId);
  return known ? toModel(known) : assumeModel(modelId);
}

/** A model without what only a list of models needs to know. */
export function toModel({ aliases: _, assumed: __, ...model }: ModelDefinition): Model {
  return model;
}

/** What is taken for granted of a model whose id tells no more than, perhaps, its provider. */
export function assumeModel(modelId: string): Model {
  const { id } = splitProvider(modelId);
  const provider = inferProvider(modelId) ?? "anthropic";
  return { id, provider, contextWindow: provider === "openai" ? 128_000 : 200_000, maxOutputTokens: 16_384 };
}

/** Takes `anthropic/ID` and `openai/ID` apart; any other id stays whole. */
export function splitProvider(modelId: string): { provider?: string; id: string } {
  const match = /^(anthropic|openai)\/(.+)$/.exec(modelId);
  const [, provider, id] = match ?? [];
  return provider !== undefined && id !== undefined ? { provider, id } : { id: modelId };
}

/** What a configuration says of a model; units as in `Model`. What is left out stays as it is known or assumed. */
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
