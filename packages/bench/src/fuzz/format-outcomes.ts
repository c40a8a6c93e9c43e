import type { FuzzOutcome, FuzzTarget } from "./fuzz-target.ts";

/** A search and how long it took. */
export interface TriedTarget {
  target: Pick<FuzzTarget, "name" | "about">;
  outcome: FuzzOutcome;
  tookMs: number;
}

/** A line for each target, with how many values were tried and whether one broke its promise. */
export function formatOutcomes(tried: readonly TriedTarget[]): string {
  const rows = tried.map(({ target, outcome, tookMs }) => [
    target.name,
    String(outcome.tried),
    outcome.problem === undefined ? "0" : "1",
    `${(tookMs / 1000).toFixed(1)} s`,
    target.about,
  ]);
  const table = [["target", "tried", "broken", "took", "what has to hold"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  return table
    .map(([name = "", ...others]) => {
      const numbers = others.slice(0, 3).map((text, index) => text.padStart(widths[index + 1] ?? 0));
      return [name.padEnd(widths[0] ?? 0), ...numbers, others[3]].join("  ");
    })
    .join("\n");
}
