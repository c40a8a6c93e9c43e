/** The names most like `name`, best first; none if none is like it. Costs one pass over `names`. */
export function nearestNames(name: string, names: readonly string[], count = 5): string[] {
  const scored = names.map((candidate) => ({ candidate, score: nameLikeness(name, candidate) }));
  return scored
    .filter(({ score }) => score >= 0.5)
    .sort((left, right) => right.score - left.score || left.candidate.localeCompare(right.candidate))
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** From 0 to 1: high for names that differ in case, accents, extension or the order of letters, else the share of equal pairs of letters. */
function nameLikeness(left: string, right: string): number {
  const [one, other] = [left, right].map((name) => name.normalize("NFKC").toLowerCase());
  if (one === undefined || other === undefined) return 0;
  if (one === other) return 1;
  if (stem(one) === stem(other)) return 0.9;
  if (sortedLetters(one) === sortedLetters(other)) return 0.8;
  const pairs = letterPairs(one);
  const otherPairs = letterPairs(other);
  const total = pairs.length + otherPairs.length;
  const shared = countShared(pairs, otherPairs);
  return total === 0 ? 0 : (2 * shared) / total;
}

function stem(name: string): string {
  return name.replace(/\.[^.]*$/, "");
}

function sortedLetters(name: string): string {
  return [...name].sort().join("");
}

function letterPairs(name: string): string[] {
  return Array.from({ length: Math.max(0, name.length - 1) }, (_, index) => name.slice(index, index + 2));
}

function countShared(pairs: readonly string[], otherPairs: readonly string[]): number {
  const left = [...otherPairs];
  return pairs.filter((pair) => {
    const at = left.indexOf(pair);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  }).length;
}
