import { z } from "zod";

const tokens = z.int().min(0);

/** What a reply reports to have used, in tokens. */
export const usageSchema = z.strictObject({
  inputTokens: tokens.optional().describe("Default: characters of the request / 4."),
  outputTokens: tokens.optional().describe("Default: characters of the reply / 4."),
  cacheReadTokens: tokens.optional().describe("Default: 0."),
  cacheWriteTokens: tokens.optional().describe("Default: 0."),
});

/** The same with nothing left to estimate. */
export const countedUsageSchema = z.strictObject({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
});
