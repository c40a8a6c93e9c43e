import type { Model, ModelPrice, ThinkingSupport } from "../types.ts";

/** A limit of a model that is not in the tables. */
export type ModelLimit = "contextWindow" | "maxOutputTokens";

/** A model for lists: with its aliases and the names of assumed limits. */
export interface ModelDefinition extends Model {
  aliases?: string[];
  /** Limits that nobody has published or configured; conservative values are assumed. */
  assumed?: readonly ModelLimit[];
}

/** Common to OpenAI's models with a window of a million tokens: longer input costs more. */
const LONG = { window: 1_050_000, input: 922_000, output: 128_000, longInput: 272_000 };
const GPT_5 = { window: 400_000, input: 272_000, output: 128_000 };
/** Common to Anthropic's models before their windows grew to a million tokens. */
const CLAUDE_4_5 = { window: 200_000, output: 64_000, thinking: "budget" } as const;

/** Where and when a price was looked up. */
interface PriceCheck {
  source: string;
  /** Year and month. */
  checked: string;
}

/** The sources of the prices below, by model id. */
export const PRICE_CHECKS = new Map<string, PriceCheck>();

const ANTHROPIC_PAGES: PriceCheck = { source: "platform.claude.com, Pricing", checked: "2026-11" };
const OPENAI_PAGES: PriceCheck = { source: "developers.openai.com, the model's page", checked: "2026-11" };
// Many places still quote the earlier prices (10 and 40).
const O3_CUT: PriceCheck = {
  source: "modelpedia.dev and codeswap.net, after the cut of June 2025",
  checked: "2026-05",
};

/** OpenAI's guide to tool search names GPT-5.4 and later; the small models are left out to be safe. */
const DEFERRING_GPT = /^gpt-(?:5\.[4-9]|[6-9])(?!.*-(?:mini|nano|luna))/;

/**
 * The known models. Windows and limits are the vendors' published ones of November 2026 (platform.claude.com and
 * developers.openai.com, the models' pages). Each price has its own source and date; prices that could not be checked
 * are left out.
 */
export const KNOWN_MODELS: readonly ModelDefinition[] = [
  claude("claude-sonnet-5-5", {
    price: { usd: [2, 10, 0.05], ...ANTHROPIC_PAGES },
    aliases: ["sonnet", "claude-sonnet"],
  }),
  claude("claude-opus-5-5", {
    price: { usd: [4, 20, 0.05], ...ANTHROPIC_PAGES },
    thinking: "always",
    aliases: ["opus", "claude-opus"],
  }),
  claude("claude-haiku-5-5", {
    price: { usd: [0.1, 0.5], ...ANTHROPIC_PAGES },
    longContext: { aboveInputTokens: 100_000, ...anthropicPrice([0.5, 2.5]) },
    aliases: ["haiku", "claude-haiku"],
  }),
  claude("claude-fable-5-2", { thinking: "always" }),
  claude("claude-fable-5-1", {
    price: { usd: [10, 50, 0.025], ...ANTHROPIC_PAGES },
    thinking: "always",
    aliases: ["fable"],
  }),
  claude("claude-fable-5", { price: { usd: [10, 50], ...ANTHROPIC_PAGES }, thinking: "always" }),
  // Each is its Fable twin without some safeguards, for organizations that Anthropic has approved.
  claude("claude-mythos-5-2", { thinking: "always" }),
  claude("claude-mythos-5-1", { price: { usd: [10, 50, 0.025], ...ANTHROPIC_PAGES }, thinking: "always" }),
  claude("claude-mythos-5", { price: { usd: [10, 50], ...ANTHROPIC_PAGES }, thinking: "always" }),
  // Retired in June 2026; its limits could not be checked.
  {
    ...claude("claude-mythos-preview", { window: 200_000, output: 16_384 }),
    assumed: ["contextWindow", "maxOutputTokens"],
  },
  claude("claude-sonnet-5", { price: { usd: [2, 10], ...ANTHROPIC_PAGES } }),
  claude("claude-opus-5", { price: { usd: [5, 25], ...ANTHROPIC_PAGES } }),
  claude("claude-opus-4-8", { price: { usd: [5, 25], ...ANTHROPIC_PAGES } }),
  claude("claude-opus-4-7", { price: { usd: [5, 25], ...ANTHROPIC_PAGES } }),
  claude("claude-opus-4-6", { price: { usd: [5, 25], ...ANTHROPIC_PAGES } }),
  claude("claude-sonnet-4-6", { price: { usd: [3, 15], ...ANTHROPIC_PAGES } }),
  claude("claude-opus-4-5", { price: { usd: [5, 25], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-opus-4-5-20251101", { price: { usd: [5, 25], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-sonnet-4-5", { price: { usd: [3, 15], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-sonnet-4-5-20250929", { price: { usd: [3, 15], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-haiku-4-5", { price: { usd: [1, 5], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-haiku-4-5-20251001", { price: { usd: [1, 5], ...ANTHROPIC_PAGES }, ...CLAUDE_4_5 }),
  claude("claude-sonnet-4-20250514", {
    price: { usd: [3, 15], ...ANTHROPIC_PAGES },
    window: 200_000,
    output: 16_384,
    thinking: "budget",
    defersTools: false,
  }),
  // Retired in February 2026. The alias is how it has been called here, which Anthropic's API does not know.
  claude("claude-3-5-haiku-20241022", {
    price: { usd: [0.8, 4], ...ANTHROPIC_PAGES },
    window: 200_000,
    output: 8_192,
    thinking: "none",
    defersTools: false,
    aliases: ["claude-haiku-3-5-20241022"],
  }),
  gpt("gpt-6.2-astra", {
    price: { usd: [8, 40, 0.4], ...OPENAI_PAGES },
    ...LONG,
    thinking: "always",
    aliases: ["astra"],
  }),
  gpt("gpt-6.2-sol", {
    price: { usd: [2, 10, 0.1, 2.5], ...OPENAI_PAGES },
    ...LONG,
    thinking: "always",
    aliases: ["sol"],
  }),
  gpt("gpt-6.1-sol", { price: { usd: [2, 10, 0.1, 2.5], ...OPENAI_PAGES }, ...LONG, thinking: "always" }),
  gpt("gpt-6.1-terra", { price: { usd: [1, 5, 0.05, 1.25], ...OPENAI_PAGES }, ...LONG, aliases: ["terra"] }),
  gpt("gpt-6-astra", { price: { usd: [10, 50, 1, 12.5], ...OPENAI_PAGES }, ...LONG, thinking: "always" }),
  gpt("gpt-6-sol", { price: { usd: [2, 10, 0.2, 2.5], ...OPENAI_PAGES }, ...LONG }),
  gpt("gpt-6-luna", { price: { usd: [0.1, 0.5, 0.01, 0.125], ...OPENAI_PAGES }, ...LONG, aliases: ["luna"] }),
  // Its promotional price was to end in November 2026, and sources differ on the price after that.
  gpt("gpt-5.6-sol", { ...LONG, aliases: ["gpt-5.6"] }),
  gpt("gpt-5.5", { price: { usd: [5, 30, 0.5], ...OPENAI_PAGES }, ...LONG }),
  gpt("gpt-5.4", { price: { usd: [2.5, 15, 0.25], ...OPENAI_PAGES }, ...LONG }),
  gpt("gpt-5.4-mini", { price: { usd: [0.75, 4.5, 0.075], ...OPENAI_PAGES }, ...GPT_5 }),
  gpt("gpt-5.4-nano", { price: { usd: [0.2, 1.25, 0.02], ...OPENAI_PAGES }, ...GPT_5 }),
  gpt("gpt-5.1-codex", { price: { usd: [1.25, 10, 0.125], ...OPENAI_PAGES }, ...GPT_5, thinking: "always" }),
  gpt("gpt-5", { price: { usd: [1.25, 10, 0.125], ...OPENAI_PAGES }, ...GPT_5, thinking: "always" }),
  gpt("gpt-5-mini", { price: { usd: [0.25, 2, 0.025], ...OPENAI_PAGES }, ...GPT_5, thinking: "always" }),
  gpt("gpt-5-nano", { price: { usd: [0.05, 0.4, 0.005], ...OPENAI_PAGES }, ...GPT_5, thinking: "always" }),
  gpt("gpt-4.1", {
    price: { usd: [2, 8, 0.5], ...OPENAI_PAGES },
    window: 1_047_576,
    output: 32_768,
    thinking: "none",
  }),
  gpt("gpt-4o", { price: { usd: [2.5, 10, 1.25], ...OPENAI_PAGES }, thinking: "none", aliases: ["4o"] }),
  gpt("gpt-4o-mini", {
    price: { usd: [0.15, 0.6, 0.075], ...OPENAI_PAGES },
    thinking: "none",
    aliases: ["4o-mini"],
  }),
  gpt("o4-mini", {
    price: { usd: [1.1, 4.4, 0.275], ...OPENAI_PAGES },
    window: 200_000,
    output: 100_000,
    thinking: "always",
  }),
  gpt("o3", { price: { usd: [2, 8, 0.5], ...O3_CUT }, window: 200_000, output: 100_000, thinking: "always" }),
];

/** US dollars per million tokens of input and output, and the price of cache reads as a share of the input price. */
type ClaudePrice = [input: number, output: number, cacheReadShare?: number];

interface ClaudeFigures {
  price?: PriceCheck & { usd: ClaudePrice };
  window?: number;
  output?: number;
  thinking?: ThinkingSupport;
  longContext?: NonNullable<Model["longContext"]>;
  /** False for models from before that. */
  defersTools?: false;
  aliases?: string[];
}

function claude(id: string, figures: ClaudeFigures): ModelDefinition {
  const {
    price,
    window = 1_000_000,
    output = 128_000,
    thinking = "adaptive",
    longContext,
    defersTools = true,
    aliases,
  } = figures;
  if (price) PRICE_CHECKS.set(id, price);
  return {
    id,
    provider: "anthropic",
    contextWindow: window,
    maxOutputTokens: output,
    ...(price && anthropicPrice(price.usd)),
    thinking,
    ...(longContext && { longContext }),
    ...(defersTools && { defersTools }),
    ...(aliases && { aliases }),
  };
}

/**
 * Writing Anthropic's cache costs a quarter more than input; reading it costs a tenth of that, or less where stated.
 */
function anthropicPrice([input, output, cacheReadShare = 0.1]: ClaudePrice): ModelPrice {
  return {
    inputCostPer1M: input,
    outputCostPer1M: output,
    cacheReadCostPer1M: toPrice(input * cacheReadShare),
    cacheWriteCostPer1M: toPrice(input * 1.25),
  };
}

/** Rounds off the noise of binary fractions. */
function toPrice(amount: number): number {
  return Number(amount.toPrecision(6));
}

/** US dollars per million tokens; prices for reading and writing the cache are left out if they are unknown. */
type GptPrice = [input: number, output: number, cacheRead?: number, cacheWrite?: number];

interface GptFigures {
  price?: PriceCheck & { usd: GptPrice };
  window?: number;
  input?: number;
  output?: number;
  /** Input beyond this doubles the price of all input and raises the price of output by half. */
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
  if (price) PRICE_CHECKS.set(id, price);
  return {
    id,
    provider: "openai",
    contextWindow: window,
    maxOutputTokens: output,
    ...(input && { maxInputTokens: input }),
    ...(price && openaiPrice(price.usd)),
    ...(DEFERRING_GPT.test(id) && { defersTools: true }),
    ...(price &&
      longInput && { longContext: { aboveInputTokens: longInput, ...openaiPrice(price.usd, 2, 1.5) } }),
    thinking,
    ...(aliases && { aliases }),
  };
}

function openaiPrice(
  [input, output, cacheRead, cacheWrite]: GptPrice,
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
