import { now as currentTime } from "../infrastructure/runtime.ts";
import type { KnowledgeEntry, KnowledgeType } from "./types.ts";

/** Weights by type: corrections of wrong behaviour count most, mere information least. */
const TYPE_WEIGHTS: Readonly<Record<KnowledgeType, number>> = {
  correction: 1.5,
  preference: 1.3,
  pattern: 1.0,
  decision: 1.0,
  discovery: 0.8,
};

const HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/** An entry with its current score. */
export interface RankedKnowledge {
  entry: KnowledgeEntry;
  /** From 0 to 1.5; see `scoreKnowledge`. */
  score: number;
}

/**
 * Confidence, halved every 30 days, times the weight of the type. A time in the future counts as now, an invalid
 * one as long ago.
 * @param now milliseconds since the epoch.
 */
export function scoreKnowledge({ confidence, timestamp, type }: KnowledgeEntry, now: number): number {
  const time = Date.parse(timestamp);
  const decay = Number.isNaN(time) ? 0 : 0.5 ** (Math.max(0, now - time) / HALF_LIFE_MS);
  return confidence * decay * TYPE_WEIGHTS[type];
}

/**
 * The active entries, the highest score first; superseded ones are left out. Equal scores keep the order of the file.
 * @param now milliseconds since the epoch.
 */
export function rankKnowledge(
  entries: readonly KnowledgeEntry[],
  now: number = currentTime(),
): KnowledgeEntry[] {
  return rankWithScores(entries, now).map(({ entry }) => entry);
}

/** `rankKnowledge` with the scores. */
export function rankWithScores(entries: readonly KnowledgeEntry[], now: number): RankedKnowledge[] {
  const superseded = findSuperseded(entries);
  return entries
    .filter(({ id }) => !superseded.has(id))
    .map((entry) => ({ entry, score: scoreKnowledge(entry, now) }))
    .sort((left, right) => right.score - left.score);
}

/**
 * The ids of the entries that others have replaced, directly or along a chain. Entries that replace each other in a
 * cycle, which only a file written by hand can hold, would all be dropped: of a cycle that nothing outside
 * replaces, the newest entry stays. An entry that names itself replaces nothing.
 */
export function findSuperseded(entries: readonly KnowledgeEntry[]): Set<string> {
  const targets = new Map<string, string>();
  for (const { id, supersedes } of entries) {
    if (supersedes !== undefined && supersedes !== id) targets.set(id, supersedes);
  }
  const superseded = new Set(targets.values());
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const replacements = countValues(targets);
  for (const cycle of findCycles(targets)) {
    // One replacement of each member comes from the cycle itself.
    const isReplaced = cycle.some((id) => (replacements.get(id) ?? 0) > 1);
    if (!isReplaced) superseded.delete(findNewest(cycle, byId));
  }
  return superseded;
}

/** Each id leads to at most one other, so every walk ends or returns to a visited entry. */
function findCycles(targets: ReadonlyMap<string, string>): string[][] {
  const done = new Set<string>();
  const circles: string[][] = [];
  for (const start of targets.keys()) {
    const walk = new Set<string>();
    let id: string | undefined = start;
    while (id !== undefined && !done.has(id) && !walk.has(id)) {
      walk.add(id);
      id = targets.get(id);
    }
    const path = [...walk];
    if (id !== undefined && walk.has(id)) circles.push(path.slice(path.indexOf(id)));
    for (const visited of path) done.add(visited);
  }
  return circles;
}

function countValues(map: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of map.values()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function findNewest(cycle: readonly string[], byId: ReadonlyMap<string, KnowledgeEntry>): string {
  const time = (id: string) => Date.parse(byId.get(id)?.timestamp ?? "") || 0;
  return cycle.toSorted((left, right) => time(right) - time(left) || (left < right ? -1 : 1))[0] ?? "";
}
