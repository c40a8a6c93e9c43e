import type { PruningLimits } from "../pruning.ts";

// Head and tail of each of the newest results, in characters: the first sizes that make a request fit are taken.
const SIZES = [1_500, 700, 300, 120, 40] as const;

/**
 * How even the newest results are shortened where nothing else makes a request fit, from the gentlest way on. The file
 * keeps them whole, and the model can read again what it needs.
 */
export const LAST_RESORTS: readonly PruningLimits[] = SIZES.map((characters) => ({
  enabled: true,
  // What would save next to nothing stays.
  softTrimChars: characters * 2 + 200,
  softTrimHead: characters,
  softTrimTail: characters,
  hardClearAfter: Number.POSITIVE_INFINITY,
  keepLast: 0,
  minimumTokens: 1,
}));
