import type { Model } from "../../provider/types.ts";
import type { CompactionSettings, PruningConditions } from "../../types.ts";

/** The pruning limits of one model. */
export type PruningLimits = {
  [Name in keyof PruningConditions]-?: NonNullable<PruningConditions[Name]>;
};

export type { CompactionSettings } from "../../types.ts";

/** The limits for one model; all are tokens. */
export interface ContextLimits {
  enabled: boolean;
  /**
   * The usable size of a request with its answer: the model's window, at most `maxContextTokens`, and smaller if the
   * provider accepts only shorter requests.
   */
  contextWindow: number;
  /** Kept free for the answer and for errors of estimation. */
  reserveTokens: number;
  keepRecentTokens: number;
  /** The maximum share of the window for user messages of the summarized part. */
  maxPinnedTokens: number;
  /** The maximum share of the window for messages that the user pinned, besides those. */
  maxPinTokens: number;
  /** A system prompt with tools above this size leaves no space for work. */
  maxFixedTokens: number;
  maxSummaryTokens: number;
  pruning: PruningLimits;
}

// For windows of 100k and more; in smaller windows, shares apply instead.
const RESERVE = { tokens: 16_384, share: 1 / 4 };
const KEEP_RECENT = { tokens: 20_000, share: 1 / 4 };
const PRUNING_MINIMUM = { tokens: 20_000, share: 1 / 8 };
const PRUNING_PROTECT = { tokens: 40_000, share: 1 / 4 };
const SUMMARY = { tokens: 4_096, share: 1 / 8 };
const PINNED_SHARE = 1 / 5;
const PIN_SHARE = 1 / 10;
const FIXED_SHARE = 1 / 2;

/**
 * The usable part of a larger window: every request costs its whole size, models attend less reliably to the middle of
 * a long context, and all numbers here are chosen for 200,000 tokens.
 */
const MAX_CONTEXT_TOKENS = 200_000;

// Below this share of the window an overflow means that the window is smaller than assumed.
const EXPECTED_SHARE = 0.7;

/**
 * The limits after the provider refused a request of about `refused` tokens: the window is no larger than that. If it
 * was assumed to be far larger, it is at least the size of the last answered request, `answered`, otherwise half of the
 * refused size.
 */
export function limitsAfterRefusal(
  limits: ContextLimits,
  { refused, answered = 0 }: { refused: number; answered?: number | undefined },
): ContextLimits {
  const isExpected = refused >= limits.contextWindow * EXPECTED_SHARE;
  const atLeast = Math.max(answered, Math.floor(refused / 2));
  return narrowLimits(limits, Math.min(refused, isExpected ? refused : atLeast));
}

/** The limits for a window of `tokens`, if that is smaller. */
export function narrowLimits(limits: ContextLimits, tokens: number): ContextLimits {
  const contextWindow = Math.min(limits.contextWindow, tokens);
  const shareOf = (share: number) => Math.floor(contextWindow * share);
  return {
    ...limits,
    contextWindow,
    reserveTokens: Math.min(limits.reserveTokens, shareOf(RESERVE.share)),
    keepRecentTokens: Math.min(limits.keepRecentTokens, shareOf(KEEP_RECENT.share)),
    maxPinnedTokens: Math.min(limits.maxPinnedTokens, shareOf(PINNED_SHARE)),
    maxPinTokens: Math.min(limits.maxPinTokens, shareOf(PIN_SHARE)),
    maxSummaryTokens: Math.min(limits.maxSummaryTokens, shareOf(SUMMARY.share)),
    pruning: {
      ...limits.pruning,
      minimumTokens: Math.min(limits.pruning.minimumTokens, shareOf(PRUNING_MINIMUM.share)),
      protectTokens: Math.min(limits.pruning.protectTokens, shareOf(PRUNING_PROTECT.share)),
    },
  };
}

/** The limits for a model, configured or scaled to its window. */
export function toContextLimits(model: Model, settings: CompactionSettings = {}): ContextLimits {
  const { enabled = true, pruning = {}, maxContextTokens = MAX_CONTEXT_TOKENS } = settings;
  const contextWindow = Math.min(model.contextWindow, maxContextTokens);
  const { maxInputTokens = contextWindow } = model;
  const scale = ({ tokens, share }: typeof RESERVE) => Math.min(tokens, Math.floor(contextWindow * share));
  const reserveTokens = settings.reserveTokens ?? scale(RESERVE);
  return {
    enabled,
    contextWindow: Math.min(contextWindow, maxInputTokens + reserveTokens),
    reserveTokens,
    keepRecentTokens: settings.keepRecentTokens ?? scale(KEEP_RECENT),
    maxPinnedTokens: Math.floor(contextWindow * PINNED_SHARE),
    maxPinTokens: Math.floor(contextWindow * PIN_SHARE),
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
      protectTokens: pruning.protectTokens ?? scale(PRUNING_PROTECT),
      startRatio: pruning.startRatio ?? 0.5,
    },
  };
}

// After a compaction there must be space for several turns before the next one.
const FILLED_SHARE = 0.85;
// All user messages together may take this share of the space; if that is not enough, they are limited to a half.
const WHOLE_SHARE = 0.9;
const SHORT_SHARE = 0.5;
// The minimum, even in little space: the head and tail of a task.
const MIN_PINNED_TOKENS = 300;

/** The token budgets of the parts after a compaction, as the session estimates tokens. */
export interface RoomShares {
  /** The approximate size of the part kept verbatim. */
  keepRecentTokens: number;
  /** Keeping more than this would make the next request too long. */
  maxKeptTokens: number;
  /** The limit for user messages of the summarized part. */
  pinnedTokens: number;
}

/**
 * Divides the space beside the fixed part and the summary: in a large window each part gets its maximum, in a small one
 * the user's messages come first if they fit completely.
 */
export function shareRoom(
  { contextWindow, reserveTokens, maxPinnedTokens, maxSummaryTokens }: ContextLimits,
  needs: { fixedTokens: number; userTokens: number; pinTokens?: number; keepRecentTokens: number },
): RoomShares {
  const filled = (contextWindow - reserveTokens) * FILLED_SHARE;
  const room = Math.max(
    0,
    Math.floor(filled - needs.fixedTokens - maxSummaryTokens - (needs.pinTokens ?? 0)),
  );
  const pinnedTokens = Math.max(MIN_PINNED_TOKENS, sharePinned(room, { maxPinnedTokens, ...needs }));
  const rest = Math.max(0, room - Math.min(pinnedTokens, needs.userTokens));
  return { pinnedTokens, maxKeptTokens: rest, keepRecentTokens: Math.min(needs.keepRecentTokens, rest) };
}

function sharePinned(room: number, needs: { maxPinnedTokens: number; userTokens: number }): number {
  const half = Math.min(needs.maxPinnedTokens, Math.floor(room * SHORT_SHARE));
  const fitsAsWhole = needs.userTokens <= Math.min(needs.maxPinnedTokens, room * WHOLE_SHARE);
  return fitsAsWhole ? Math.max(needs.userTokens, half) : half;
}
