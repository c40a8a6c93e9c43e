import { z } from "zod";
import type { CompactionSettings, PruningConditions } from "../types.ts";

const dollars = z.number().min(0).exactOptional();
const count = z.number().min(0).optional();
const tokens = z.int().min(1);

const prices = {
  inputCostPer1M: dollars,
  outputCostPer1M: dollars,
  cacheReadCostPer1M: dollars,
  cacheWriteCostPer1M: dollars,
};

/** US dollars for a million tokens. */
export const priceSchema = z.strictObject({
  ...prices,
  longContext: z
    .strictObject({ ...prices, aboveInputTokens: z.int().min(0) })
    .exactOptional()
    .describe("The price of a request whose input, cached tokens included, is longer than aboveInputTokens."),
});

const pruningSchema = z.strictObject({
  enabled: z.boolean().optional(),
  softTrimChars: count,
  softTrimHead: count,
  softTrimTail: count,
  hardClearAfter: count,
  keepLast: count,
  minimumTokens: count,
} satisfies Record<keyof PruningConditions, z.ZodType>);

const compactionSchema = z.strictObject({
  enabled: z.boolean().optional(),
  reserveTokens: count,
  keepRecentTokens: count,
  pruning: pruningSchema.optional(),
} satisfies Record<keyof CompactionSettings, z.ZodType>);

/** What decided how a recorded run went, beside the replies; see `RunConditions`. */
export const conditionsSchema = z.strictObject({
  compaction: compactionSchema.optional().describe("The settings under compaction in the configuration."),
  flushKnowledge: z.boolean().optional().describe("The setting knowledge.flushBeforeCompaction."),
  maxRetries: z.int().min(0).optional().describe("The setting maxRetries."),
  maxTurns: z.int().min(1).optional().describe("The limit of --max-turns, else the setting maxTurns."),
  maxCost: z.number().positive().optional().describe("The limit of --max-cost, in US dollars."),
  calibration: z
    .strictObject({ ratio: z.number().positive(), samples: z.int().min(0) })
    .optional()
    .describe("What was known of the tokenizer: tokens of one character, and from how many requests."),
  summarizer: z
    .strictObject({
      contextWindow: tokens.exactOptional(),
      maxInputTokens: tokens.exactOptional(),
      maxOutputTokens: tokens.exactOptional(),
      ...priceSchema.shape,
    })
    .optional()
    .describe("The model that wrote the summaries, where it was another one."),
});
