import type { Model, ModelPrice, ThinkingSupport } from "./types.ts";

export interface ModelDefinition extends Model {
  aliases?: string[];
}

/**
 * The models we have figures for. Windows, limits and prices are the vendors' published ones of November 2026; what
 * could not be checked is left out.
 */
export const KNOWN_MODELS: readonly ModelDefinition[] = [
  claude("claude-sonnet-5-5", { price: [2, 10], aliases: ["sonnet", "claude-sonnet"] }),
  claude("claude-opus-5-5", { price: [4, 20], thinking: "always", aliases: ["opus", "claude-opus"] }),
  claude("claude-haiku-5-5", {
    price: [0.1, 0.5],
    longContext: { aboveInputTokens: 100_000, ...anthropicPrice(0.5, 2.5) },
    aliases: ["haiku", "claude-haiku"],
  }),
  claude("claude-fable-5-1", { price: [10, 50], thinking: "always", aliases: ["fable"] }),
  claude("claude-sonnet-5", { price: [2, 10] }),
  claude("claude-opus-5", { price: [5, 25] }),
  claude("claude-haiku-4-5", { price: [1, 5], window: 200_000, output: 64_000, thinking: "budget" }),
  claude("claude-sonnet-4-5", { price: [3, 15], window: 200_000, output: 64_000, thinking: "budget" }),
  claude("claude-sonnet-4-20250514", { price: [3, 15], window: 200_000, output: 16_384, thinking: "budget" }),
  claude("claude-haiku-3-5-20241022", { price: [0.8, 4], window: 200_000, output: 8_192, thinking: "none" }),
  gpt("gpt-4o", { price: [2.5, 10], aliases: ["4o"] }),
  gpt("gpt-4o-mini", { price: [0.15, 0.6], aliases: ["4o-mini"] }),
  gpt("o3", { price: [10, 40], window: 200_000, output: 100_000, thinking: "adaptive" }),
];

interface Figures {
  /** US dollars for a million tokens of input and of output. */
  price: [input: number, output: number];
  window?: number;
  output?: number;
  thinking?: ThinkingSupport;
  longContext?: NonNullable<Model["longContext"]>;
  aliases?: string[];
}

function claude(id: string, figures: Figures): ModelDefinition {
  const { window = 1_000_000, output = 128_000, thinking = "adaptive", longContext, aliases } = figures;
  return {
    id,
    provider: "anthropic",
    contextWindow: window,
    maxOutputTokens: output,
    ...anthropicPrice(...figures.price),
    thinking,
    ...(longContext && { longContext }),
    ...(aliases && { aliases }),
  };
}

/** Anthropic charges a tenth of the input price for reading its cache and a quarter more for writing it. */
function anthropicPrice(input: number, output: number): ModelPrice {
  return {
    inputCostPer1M: input,
    outputCostPer1M: output,
    cacheReadCostPer1M: input * 0.1,
    cacheWriteCostPer1M: input * 1.25,
  };
}

function gpt(id: string, figures: Figures): ModelDefinition {
  const { price, window = 128_000, output = 16_384, thinking = "none", aliases } = figures;
  return {
    id,
    provider: "openai",
    contextWindow: window,
    maxOutputTokens: output,
    inputCostPer1M: price[0],
    outputCostPer1M: price[1],
    thinking,
    ...(aliases && { aliases }),
  };
}
