import { distance } from "fastest-levenshtein";

// Names are short; a longer word is not a misspelling and would only take time.
const MAX_LENGTH = 255;

/** The known name that a mistyped one most likely means; undefined when none is near. Case is ignored. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  return nearestNames(name, candidates, 1)[0];
}

/** The known names that a mistyped one may mean, the nearest first; empty when none is near. */
export function nearestNames(name: string, candidates: Iterable<string>, count = 5): string[] {
  if (name.length > MAX_LENGTH) return [];
  // Two edits cover a swapped pair of letters; in a very short name they would match almost anything.
  const most = Math.min(Math.max(2, Math.floor(name.length / 3)), Math.floor(name.length / 2));
  return [...candidates]
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, edits: countEdits(fold(name), fold(candidate)) }))
    .filter(({ edits }) => edits <= most)
    .sort((left, right) => left.edits - right.edits)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** A swapped pair in such a short name counts as one edit. */
function countEdits(name: string, candidate: string): number {
  return candidate.length === 3 && hasSwappedPair(name, candidate) ? 1 : distance(name, candidate);
}

/** True when two adjacent, different letters have been swapped. */
function hasSwappedPair(name: string, candidate: string): boolean {
  if (name === candidate) return false;
  const [first = "", second = "", third = ""] = candidate;
  return name === second + first + third || name === first + third + second;
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
