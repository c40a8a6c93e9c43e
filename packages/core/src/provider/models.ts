import { KNOWN_MODELS, type ModelDefinition } from "./known-models.ts";
import type { Model } from "./types.ts";

export { KNOWN_MODELS, type ModelDefinition };

/** The model that is used when nobody names one. */
export const DEFAULT_MODEL = "claude-sonnet-5-5";

const PROVIDER_PREFIXES: readonly { provider: string; pattern: RegExp }[] = [
  { provider: "anthropic", pattern: /^claude-/ },
  { provider: "openai", pattern: /^(gpt-|o\d)/ },
];

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
  if (known) {
    const { aliases: _, ...model } = known;
    return model;
  }
  const { id } = splitProvider(modelId);
  const provider = inferProvider(modelId) ?? "anthropic";
  return { id, provider, contextWindow: provider === "openai" ? 128_000 : 200_000, maxOutputTokens: 16_384 };
}

function splitProvider(modelId: string): { provider?: string; id: string } {
  const match = /^(anthropic|openai)\/(.+)$/.exec(modelId);
  const [, provider, id] = match ?? [];
  return provider !== undefined && id !== undefined ? { provider, id } : { id: modelId };
}
