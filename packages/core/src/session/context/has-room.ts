import type { StreamContext } from "../../provider/types.ts";
import type { Usage } from "../../types.ts";
import { countCharacters } from "../compaction/estimate-tokens.ts";
import { countFixedCharacters } from "./fixed-part.ts";
import type { ContextLimits } from "./settings.ts";

/** At the worst: a token has hardly ever less than one character. */
export const MOST_TOKENS_PER_CHARACTER = 1;
// The average, by which `planPruning` counts what would be gained.
const PRUNED_TOKENS_PER_CHARACTER = 1 / 4;

/**
 * True when a request is so far from every limit that nothing has to be looked at more closely: true for every request
 * of most conversations, and cheap to find out.
 */
export function hasRoom(context: StreamContext, limits: ContextLimits): boolean {
  const { contextWindow, reserveTokens, maxFixedTokens, pruning } = limits;
  const maxRequestTokens = contextWindow - reserveTokens;
  const fixed = countFixedCharacters(context);
  const inMessages = context.messages.reduce((sum, message) => sum + countCharacters(message), 0);
  const isFarFromFull =
    (fixed + inMessages) * MOST_TOKENS_PER_CHARACTER <= maxRequestTokens &&
    // The provider's own count knows better than ours, where there is one.
    lastUsageTokens(context) <= maxRequestTokens / 2;
  const isPromptSmall = fixed * MOST_TOKENS_PER_CHARACTER <= maxFixedTokens;
  const isNothingToPrune =
    !pruning.enabled || inMessages * PRUNED_TOKENS_PER_CHARACTER < pruning.minimumTokens;
  return isFarFromFull && isPromptSmall && isNothingToPrune;
}

/** Tokens of a request and its answer, as the provider counted them. */
export function usageTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function lastUsageTokens({ messages }: StreamContext): number {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" ? usageTokens(last.usage) : 0;
}
