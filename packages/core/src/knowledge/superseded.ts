import type { KnowledgeEntry } from "./types.ts";

/**
 * The ids of the entries that others have replaced, directly or along a chain. Entries that replace each other in a
 * circle, which only a file written by hand can hold, would all be gone: of a circle that nothing outside replaces,
 * the newest entry stays. An entry that names itself replaces nothing.
 */
export function findSuperseded(entries: readonly KnowledgeEntry[]): Set<string> {
  const targets = new Map<string, string>();
  for (const { id, supersedes } of entries) {
    if (supersedes !== undefined && supersedes !== id) targets.set(id, supersedes);
  }
  const superseded = new Set(targets.values());
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const replacements = countValues(targets);
  for (const circle of findCircles(targets)) {
    // One replacement of each member comes from the circle itself.
    const isReplaced = circle.some((id) => (replacements.get(id) ?? 0) > 1);
    if (!isReplaced) superseded.delete(findNewest(circle, byId));
  }
  return superseded;
}

/** Each id leads to at most one other, so every walk ends or comes back to where it has been. */
function findCircles(targets: ReadonlyMap<string, string>): string[][] {
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

function findNewest(circle: readonly string[], byId: ReadonlyMap<string, KnowledgeEntry>): string {
  const time = (id: string) => Date.parse(byId.get(id)?.timestamp ?? "") || 0;
  return circle.toSorted((left, right) => time(right) - time(left) || (left < right ? -1 : 1))[0] ?? "";
}
