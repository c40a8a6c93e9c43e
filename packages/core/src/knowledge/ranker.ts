import { now as currentTime } from "../infrastructure/clock.ts";
import { findSuperseded } from "./superseded.ts";
import type { KnowledgeEntry, KnowledgeType } from "./types.ts";

/** From the plan: what corrects wrong behaviour counts most, what only informs least. */
const TYPE_WEIGHTS: Readonly<Record<KnowledgeType, number>> = {
  correction: 1.5,
  preference: 1.3,
  pattern: 1.0,
  decision: 1.0,
  discovery: 0.8,
};

const HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/** An entry with what it counts now. */
export interface RankedKnowledge {
  entry: KnowledgeEntry;
  /** From 0 to 1.5; see `scoreKnowledge`. */
  score: number;
}

/**
 * Confidence, halved every 30 days, times the weight of the type. A time in the future counts as now, one that cannot
 * be read as long ago.
 * @param now milliseconds since the epoch.
 */
export function scoreKnowledge({ confidence, timestamp, type }: KnowledgeEntry, now: number): number {
  const time = Date.parse(timestamp);
  const decay = Number.isNaN(time) ? 0 : 0.5 ** (Math.max(0, now - time) / HALF_LIFE_MS);
  return confidence * decay * TYPE_WEIGHTS[type];
}

/**
 * The entries worth telling, the highest score first; those that were superseded are left out. Of equal scores the
 * order of the file is kept.
 * @param now milliseconds since the epoch.
 */
export function rankKnowledge(
  entries: readonly KnowledgeEntry[],
  now: number = currentTime(),
): KnowledgeEntry[] {
  return rankWithScores(entries, now).map(({ entry }) => entry);
}

/** The same with the scores. */
export function rankWithScores(entries: readonly KnowledgeEntry[], now: number): RankedKnowledge[] {
  const superseded = findSuperseded(entries);
  return entries
    .filter(({ id }) => !superseded.has(id))
    .map((entry) => ({ entry, score: scoreKnowledge(entry, now) }))
    .sort((left, right) => right.score - left.score);
}
