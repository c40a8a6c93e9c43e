import { formatCount } from "./format-amount.ts";

/** What is shown of some lines, be it their beginning or their end. */
export interface CutLines {
  shown: readonly string[];
  /** How many lines are left out. */
  hidden: number;
}

/** The first lines. */
export function firstLines(lines: readonly string[], count: number): CutLines {
  const shown = lines.slice(0, count);
  return { shown, hidden: lines.length - shown.length };
}

/** The last lines. */
export function lastLines(lines: readonly string[], count: number): CutLines {
  const shown = lines.slice(Math.max(0, lines.length - count));
  return { shown, hidden: lines.length - shown.length };
}

/** The line that stands for those which are left out below; none where none is. */
export function moreLines(hidden: number): string[] {
  return hidden === 0 ? [] : [`… ${formatCount(hidden, "more line")}`];
}
