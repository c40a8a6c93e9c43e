import type { Model, ModelPrice, ThinkingSupport } from "./types.ts";

export interface ModelDefinition extends Model {
  aliases?: string[];
}

/** What OpenAI's models with a window of a million tokens have in common: longer input costs more. */
const LONG = { window: 1_050_000, input: 922_000, output: 128_000, longInput: 272_000 };
const GPT_5 = { window: 400_000, input: 272_000, output: 128_000 };

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
  gpt("gpt-6.2-astra", { price: [8, 40, 0.4], ...LONG, thinking: "always", aliases: ["astra"] }),
  gpt("gpt-6.2-sol", { price: [2, 10, 0.1, 2.5], ...LONG, thinking: "always", aliases: ["sol"] }),
  gpt("gpt-6.1-sol", { price: [2, 10, 0.1, 2.5], ...LONG, thinking: "always" }),
  gpt("gpt-6.1-terra", { price: [1, 5, 0.05, 1.25], ...LONG, aliases: ["terra"] }),
  gpt("gpt-6-astra", { price: [10, 50, 1, 12.5], ...LONG, thinking: "always" }),
  gpt("gpt-6-sol", { price: [2, 10, 0.2, 2.5], ...LONG }),
  gpt("gpt-6-luna", { price: [0.1, 0.5, 0.01, 0.125], ...LONG, aliases: ["luna"] }),
  // Its promotional price was to end in November 2026, and sources differ on what came after.
  gpt("gpt-5.6-sol", { ...LONG, aliases: ["gpt-5.6"] }),
  gpt("gpt-5.5", { price: [5, 30, 0.5], ...LONG }),
  gpt("gpt-5.4", { price: [2.5, 15, 0.25], ...LONG }),
  gpt("gpt-5.4-mini", { price: [0.75, 4.5], ...GPT_5 }),
  gpt("gpt-5.4-nano", { price: [0.2, 1.25, 0.02], ...GPT_5 }),
  gpt("gpt-5.1-codex", { price: [1.25, 10, 0.125], ...GPT_5, thinking: "always" }),
  gpt("gpt-5", { price: [1.25, 10, 0.125], ...GPT_5, thinking: "always" }),
  gpt("gpt-5-mini", { price: [0.25, 2, 0.025], ...GPT_5, thinking: "always" }),
  gpt("gpt-5-nano", { price: [0.05, 0.4, 0.005], ...GPT_5, thinking: "always" }),
  gpt("gpt-4.1", { price: [2, 8, 0.5], window: 1_047_576, output: 32_768, thinking: "none" }),
  gpt("gpt-4o", { price: [2.5, 10, 1.25], thinking: "none", aliases: ["4o"] }),
  gpt("gpt-4o-mini", { price: [0.15, 0.6, 0.075], thinking: "none", aliases: ["4o-mini"] }),
  gpt("o4-mini", { price: [1.1, 4.4, 0.275], window: 200_000, output: 100_000, thinking: "always" }),
  gpt("o3", { price: [10, 40], window: 200_000, output: 100_000, thinking: "always" }),
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

interface GptFigures {
  /** US dollars for a million tokens; reading and writing the cache are left out where they are not known. */
  price?: [input: number, output: number, cacheRead?: number, cacheWrite?: number];
  window?: number;
  input?: number;
  output?: number;
  /** Input beyond this doubles the price of all input and makes output half as dear again. */
  longInput?: number;
  thinking?: ThinkingSupport;
  aliases?: string[];
}

function gpt(id: string, figures: GptFigures): ModelDefinition {
  const {
    price,
    window = 128_000,
    input,
    output = 16_384,
    longInput,
    thinking = "adaptive",
    aliases,
  } = figures;
  return {
    id,
    provider: "openai",
    contextWindow: window,
    maxOutputTokens: output,
    ...(input && { maxInputTokens: input }),
    ...(price && openaiPrice(price)),
    ...(price &&
      longInput && { longContext: { aboveInputTokens: longInput, ...openaiPrice(price, 2, 1.5) } }),
    thinking,
    ...(aliases && { aliases }),
  };
}

function openaiPrice(
  [input, output, cacheRead, cacheWrite]: NonNullable<GptFigures["price"]>,
  inputFactor = 1,
  outputFactor = 1,
): ModelPrice {
  return {
    inputCostPer1M: input * inputFactor,
    outputCostPer1M: output * outputFactor,
    ...(cacheRead && { cacheReadCostPer1M: cacheRead * inputFactor }),
    ...(cacheWrite && { cacheWriteCostPer1M: cacheWrite * inputFactor }),
  };
}
