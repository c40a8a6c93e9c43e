import type { Model } from "../../provider/types.ts";
import type { CompactionSettings } from "../../types.ts";
import type { PruningLimits } from "../pruning.ts";

export type { CompactionSettings } from "../../types.ts";

/** The numbers that hold for one model; all are tokens. */
export interface ContextLimits {
  enabled: boolean;
  /** Of a request with its answer; smaller than the model's where the provider takes shorter requests only. */
  contextWindow: number;
  /** Kept free for the answer and for errors of estimation. */
  reserveTokens: number;
  keepRecentTokens: number;
  /** At most so much of the window is for what users said in the summarised part. */
  maxPinnedTokens: number;
  /** A system prompt with tools above this leaves no room for work. */
  maxFixedTokens: number;
  maxSummaryTokens: number;
  pruning: PruningLimits;
}

// For windows of 100k and more; in a smaller one they would leave no room, so there they are shares of it.
const RESERVE = { tokens: 16_384, share: 1 / 4 };
const KEEP_RECENT = { tokens: 20_000, share: 1 / 4 };
const PRUNING_MINIMUM = { tokens: 20_000, share: 1 / 8 };
const SUMMARY = { tokens: 4_096, share: 1 / 8 };
const PINNED_SHARE = 1 / 5;
const FIXED_SHARE = 1 / 2;

// Below this share of the window an overflow says that the window is not what it was thought to be.
const EXPECTED_SHARE = 0.7;

/**
 * The limits behind a request of about `refused` tokens that the provider did not take: the window is no larger than
 * that. Where it was thought to be far larger, it is at least what was `answered` last, else perhaps a half.
 */
export function limitsAfterRefusal(
  limits: ContextLimits,
  { refused, answered = 0 }: { refused: number; answered?: number | undefined },
): ContextLimits {
  const isExpected = refused >= limits.contextWindow * EXPECTED_SHARE;
  const atLeast = Math.max(answered, Math.floor(refused / 2));
  return narrowLimits(limits, Math.min(refused, isExpected ? refused : atLeast));
}

/** The same limits for a window of `tokens`, where that is smaller. */
export function narrowLimits(limits: ContextLimits, tokens: number): ContextLimits {
  const contextWindow = Math.min(limits.contextWindow, tokens);
  const shareOf = (share: number) => Math.floor(contextWindow * share);
  return {
    ...limits,
    contextWindow,
    reserveTokens: Math.min(limits.reserveTokens, shareOf(RESERVE.share)),
    keepRecentTokens: Math.min(limits.keepRecentTokens, shareOf(KEEP_RECENT.share)),
    maxPinnedTokens: Math.min(limits.maxPinnedTokens, shareOf(PINNED_SHARE)),
    maxSummaryTokens: Math.min(limits.maxSummaryTokens, shareOf(SUMMARY.share)),
  };
}

/** The limits for a model, as configured or scaled to its window. */
export function toContextLimits(model: Model, settings: CompactionSettings = {}): ContextLimits {
  const { contextWindow, maxInputTokens = contextWindow } = model;
  const { enabled = true, pruning = {} } = settings;
  const scale = ({ tokens, share }: typeof RESERVE) => Math.min(tokens, Math.floor(contextWindow * share));
  const reserveTokens = settings.reserveTokens ?? scale(RESERVE);
  return {
    enabled,
    contextWindow: Math.min(contextWindow, maxInputTokens + reserveTokens),
    reserveTokens,
    keepRecentTokens: settings.keepRecentTokens ?? scale(KEEP_RECENT),
    maxPinnedTokens: Math.floor(contextWindow * PINNED_SHARE),
    maxFixedTokens: Math.floor(contextWindow * FIXED_SHARE),
    maxSummaryTokens: scale(SUMMARY),
    pruning: {
      enabled: pruning.enabled ?? true,
      softTrimChars: pruning.softTrimChars ?? 4_000,
      softTrimHead: pruning.softTrimHead ?? 1_500,
      softTrimTail: pruning.softTrimTail ?? 1_500,
      hardClearAfter: pruning.hardClearAfter ?? 6,
      keepLast: pruning.keepLast ?? 2,
      minimumTokens: pruning.minimumTokens ?? scale(PRUNING_MINIMUM),
    },
  };
}
