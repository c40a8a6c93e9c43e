import type { ContextLimits } from "./settings.ts";

// After a compaction there has to be room for several turns before the next one.
const FILLED_SHARE = 0.85;
// All of what users said may take so much of the room; where that does not do, it gets a half.
const WHOLE_SHARE = 0.9;
const SHORT_SHARE = 0.5;
// However little room there is: the head and tail of a task.
const MIN_PINNED_TOKENS = 300;

/** How many tokens each part may have after a compaction, as the session estimates them. */
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
 * a small one the user's messages come first if they fit as a whole.
 */
export function shareRoom(
  { contextWindow, reserveTokens, maxPinnedTokens, maxSummaryTokens }: ContextLimits,
  needs: { fixedTokens: number; userTokens: number; keepRecentTokens: number },
): RoomShares {
  const filled = (contextWindow - reserveTokens) * FILLED_SHARE;
  const room = Math.max(0, Math.floor(filled - needs.fixedTokens - maxSummaryTokens));
  const pinnedTokens = Math.max(MIN_PINNED_TOKENS, sharePinned(room, { maxPinnedTokens, ...needs }));
  const rest = Math.max(0, room - Math.min(pinnedTokens, needs.userTokens));
  return { pinnedTokens, maxKeptTokens: rest, keepRecentTokens: Math.min(needs.keepRecentTokens, rest) };
}

function sharePinned(room: number, needs: { maxPinnedTokens: number; userTokens: number }): number {
  const half = Math.min(needs.maxPinnedTokens, Math.floor(room * SHORT_SHARE));
  const fitsAsWhole = needs.userTokens <= Math.min(needs.maxPinnedTokens, room * WHOLE_SHARE);
  return fitsAsWhole ? Math.max(needs.userTokens, half) : half;
}
