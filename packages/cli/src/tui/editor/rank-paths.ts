import { fuzzyMatch } from "@earendil-works/pi-tui/dist/fuzzy.js";

// What is in the name itself is nearly always what was meant; pi-tui's scores are lower for better matches.
const NAME_BONUS = 30;
const LENGTH_COST = 0.1;

/**
 * The paths that hold the characters of `query` in order, the best first: in the last name before anywhere, together and
 * at the beginning of words before scattered, short before long. Without a query those nearest to the top.
 */
export function rankPaths(paths: readonly string[], query: string, limit: number): string[] {
  const scored = paths.flatMap((path) => {
    const score = query === "" ? countSlashes(path) : scorePath(path, query);
    return score === undefined ? [] : [{ path, score }];
  });
  return scored
    .sort((left, right) => left.score - right.score || (left.path < right.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

function scorePath(path: string, query: string): number | undefined {
  const whole = fuzzyMatch(query, path);
  if (!whole.matches) return undefined;
  const name = fuzzyMatch(query, path.slice(path.lastIndexOf("/", path.length - 2) + 1));
  const score = name.matches ? Math.min(whole.score, name.score - NAME_BONUS) : whole.score;
  return score + path.length * LENGTH_COST;
}

function countSlashes(path: string): number {
  return path.slice(0, -1).split("/").length;
}
