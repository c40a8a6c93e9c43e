import type { ContextLimits } from "./settings.ts";

// After a compaction there has to be room for several turns before the next one.
const FILLED_SHARE = 0.85;

export interface RoomShares {
  /** What is kept word for word should be about so much. */
  keepRecentTokens: number;
  /** More than this of it would leave the next request too long. */
  maxKeptTokens: number;
  /** For the user's messages of the summarised part, if there are so many. */
  pinnedTokens: number;
}

/**
 * How the room beside the fixed part and the summary is divided: in a large window everybody gets what they may have, in
 * a small one the user's messages at most a half.
 */
export function shareRoom(
  { contextWindow, reserveTokens, maxPinnedTokens, maxSummaryTokens }: ContextLimits,
  needs: { fixedTokens: number; userTokens: number; keepRecentTokens: number },
): RoomShares {
  const filled = (contextWindow - reserveTokens) * FILLED_SHARE;
  const room = Math.max(0, Math.floor(filled - needs.fixedTokens - maxSummaryTokens));
  const pinnedTokens = Math.min(maxPinnedTokens, Math.floor(room / 2));
  const rest = room - Math.min(pinnedTokens, needs.userTokens);
  return { pinnedTokens, maxKeptTokens: rest, keepRecentTokens: Math.min(needs.keepRecentTokens, rest) };
}
