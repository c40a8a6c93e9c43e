import type { Usage } from "../types.ts";
import { asRecord, countOf, isRecord } from "./json-value.ts";

/**
 * The tokens of an answer; undefined where none are told. Input includes what was read from the cache, whose number
 * DeepSeek and Moonshot have under names of their own.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const details = asRecord(usage.prompt_tokens_details);
  const cacheReadTokens = countOf(
    details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
  );
  const cacheWriteTokens = countOf(details.cache_write_tokens);
  return {
    inputTokens: Math.max(0, countOf(usage.prompt_tokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: countOf(usage.completion_tokens),
    cacheReadTokens,
    cacheWriteTokens,
  };
}
