import type { StreamContext } from "../../provider/types.ts";
import type { Usage } from "../../types.ts";
import { countCharacters } from "../compaction/estimate-tokens.ts";
import type { ContextLimits } from "./settings.ts";

/** The part of a request that is the same in all of them. */
export type FixedPart = Pick<StreamContext, "systemPrompt" | "tools">;

/** A token has four characters on the average, and hardly ever less than one. */
export const MOST_TOKENS_PER_CHARACTER = 1;
const LEAST_TOKENS_PER_CHARACTER = 1 / 4;

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
    !pruning.enabled || inMessages * LEAST_TOKENS_PER_CHARACTER < pruning.minimumTokens;
  return isFarFromFull && isPromptSmall && isNothingToPrune;
}

/** Characters of the part of a request that is the same in all of them: system prompt and tools. */
export function countFixedCharacters({ systemPrompt, tools }: FixedPart): number {
  return systemPrompt.length + (tools.length > 0 ? JSON.stringify(tools).length : 0);
}

/** Tokens of a request and its answer, as the provider counted them. */
export function usageTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function lastUsageTokens({ messages }: StreamContext): number {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" ? usageTokens(last.usage) : 0;
}
