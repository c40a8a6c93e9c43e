import { distance } from "fastest-levenshtein";

// Names are short; a longer word is no misspelling of one and would only cost time.
const MAX_LENGTH = 255;

/** The known name a mistyped one was most likely meant to be; undefined when none is near. Case does not count. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  return nearestNames(name, candidates, 1)[0];
}

/** The names a mistyped one may have been meant to be, the nearest first; none when none is near. */
export function nearestNames(name: string, candidates: Iterable<string>, count = 5): string[] {
  if (name.length > MAX_LENGTH) return [];
  // Two edits cover a swapped pair of letters; in a very short name they would turn anything into anything.
  const most = Math.min(Math.max(2, Math.floor(name.length / 3)), Math.floor(name.length / 2));
  return [...candidates]
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, edits: countEdits(fold(name), fold(candidate)) }))
    .filter(({ edits }) => edits <= most)
    .sort((left, right) => left.edits - right.edits)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** A pair that is swapped in so short a name counts as one. */
function countEdits(name: string, candidate: string): number {
  return candidate.length === 3 && hasSwappedPair(name, candidate) ? 1 : distance(name, candidate);
}

/** True when two different letters of three, one beside the other, have changed places. */
function hasSwappedPair(name: string, candidate: string): boolean {
  if (name === candidate) return false;
  const [first = "", second = "", third = ""] = candidate;
  return name === second + first + third || name === first + third + second;
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
