import type { Model, ModelPrice } from "../provider/types.ts";
import type { Usage } from "../types.ts";

/**
 * The cost of a usage in US dollars, or null when the model's price is unknown. Cached tokens whose own price is
 * unknown count as ordinary input.
 */
export function computeCost(usage: Usage, model: Model): number | null {
  const price = priceFor(usage, model);
  const { inputCostPer1M, outputCostPer1M } = price;
  if (inputCostPer1M === undefined || outputCostPer1M === undefined) return null;
  const perMillion =
    usage.inputTokens * inputCostPer1M +
    usage.outputTokens * outputCostPer1M +
    usage.cacheReadTokens * (price.cacheReadCostPer1M ?? inputCostPer1M) +
    usage.cacheWriteTokens * (price.cacheWriteCostPer1M ?? inputCostPer1M) +
    (usage.webSearches ?? 0) * WEB_SEARCH_COST * 1_000_000;
  // A billionth of a dollar is below every price; the rest is noise of binary fractions.
  return Math.round(perMillion * 1_000) / 1_000_000_000;
}

// US dollars, at Anthropic and at OpenAI: 10 for 1,000 searches.
const WEB_SEARCH_COST = 0.01;

function priceFor(usage: Usage, model: Model): ModelPrice {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return model.longContext && input > model.longContext.aboveInputTokens ? model.longContext : model;
}
