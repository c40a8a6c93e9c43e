import type { ModelDefinition, ModelLimit } from "./known-models.ts";
import { assumeModel, ModelSettingError } from "./models.ts";
import type { ModelPrice, ThinkingSupport } from "./types.ts";

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

// Nobody tells what such a server can take, and one that is sent too much often cuts the beginning off in silence. What
// is run at home has at least this much as a rule; more is for the configuration to say.
const ASSUMED_WINDOW = 32_768;
const ASSUMED_OUTPUT = 8_192;

/** A model of a compatible server as long as nobody has said more. */
export function assumeServerModel(server: string, id: string): ModelDefinition {
  return {
    id,
    provider: server,
    contextWindow: ASSUMED_WINDOW,
    maxOutputTokens: Math.min(ASSUMED_OUTPUT, quarterOf(ASSUMED_WINDOW)),
    thinking: "none",
    assumed: ["contextWindow", "maxOutputTokens"],
  };
}

/** A model of Anthropic's or OpenAI's that is not among the known ones. */
export function assumePublicModel(provider: string, id: string): ModelDefinition {
  return { ...assumeModel(`${provider}/${id}`), assumed: ["contextWindow", "maxOutputTokens"] };
}

/**
 * The model with what is said of it; aliases are added to those it has.
 * @param key of the setting, for errors.
 * @throws ModelSettingError when an answer would be longer than the window.
 */
export function applyFigures(model: ModelDefinition, figures: ModelFigures, key: string): ModelDefinition {
  const { aliases: _, assumed = [], longContext, maxInputTokens, ...rest } = model;
  const aliases = [...new Set([...(model.aliases ?? []), ...(figures.aliases ?? [])])];
  const { contextWindow = model.contextWindow, thinking = model.thinking } = figures;
  const price = readPrice(figures);
  const stillAssumed = assumed.filter((limit) => figures[limit] === undefined);
  return {
    ...rest,
    ...price,
    contextWindow,
    maxOutputTokens: toOutputLimit(model, figures, key),
    ...(maxInputTokens !== undefined && maxInputTokens < contextWindow && { maxInputTokens }),
    // A price for long input belongs to the vendor's own prices, not to somebody else's.
    ...(longContext && Object.keys(price).length === 0 && { longContext }),
    ...(thinking && { thinking }),
    ...(aliases.length > 0 && { aliases }),
    ...(stillAssumed.length > 0 && { assumed: stillAssumed }),
  };
}

function toOutputLimit(model: ModelDefinition, figures: ModelFigures, key: string): number {
  const { contextWindow: window = model.contextWindow, maxOutputTokens: said } = figures;
  if (said === undefined) {
    const limit: ModelLimit = "maxOutputTokens";
    const isFitting = model.maxOutputTokens <= window && !model.assumed?.includes(limit);
    return isFitting ? model.maxOutputTokens : Math.min(model.maxOutputTokens, quarterOf(window));
  }
  if (said <= window) return said;
  const advice = figures.contextWindow === undefined ? "; say its contextWindow too" : "";
  throw new ModelSettingError(
    `${key}.maxOutputTokens`,
    `${said} tokens are more than its window of ${window}${advice}`,
  );
}

/** As much of a window as an answer may take where nobody says it: the conversation needs the rest. */
function quarterOf(window: number): number {
  return Math.max(1, Math.floor(window / 4));
}

function readPrice(figures: ModelFigures): ModelPrice {
  const { inputCostPer1M, outputCostPer1M, cacheReadCostPer1M, cacheWriteCostPer1M } = figures;
  return {
    ...(inputCostPer1M !== undefined && { inputCostPer1M }),
    ...(outputCostPer1M !== undefined && { outputCostPer1M }),
    ...(cacheReadCostPer1M !== undefined && { cacheReadCostPer1M }),
    ...(cacheWriteCostPer1M !== undefined && { cacheWriteCostPer1M }),
  };
}
