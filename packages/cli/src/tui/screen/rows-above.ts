import type { LiveRegion } from "./frame.ts";
import { readTokens } from "./line-tokens.ts";
import type { Rewrap } from "./rewrap.ts";
import type { ScreenLine } from "./screen-line.ts";
import { isWidthSettled } from "./text-width.ts";

/** What happened to a terminal since a region was drawn in it. */
export interface Resize {
  width: number;
  height: number;
  rewrap: Rewrap;
  /** The size changed once. Otherwise it may have been smaller in between. */
  isOneStep: boolean;
}

/**
 * How many rows the cursor is below the first row of a region, after the terminal got another size. Where that cannot be
 * known exactly it is the least it may be: what is left above stays on the screen as a remainder, while a number too
 * large would erase finished lines.
 */
export function countRowsAbove(region: LiveRegion, resize: Resize): number {
  const { lines, row, column = 0 } = region;
  if (resize.rewrap === "keeps_rows") return row;
  if (resize.rewrap === "rewraps_around_cursor") return countAroundCursor(region, resize);
  const above = lines.slice(0, row).reduce((rows, line) => rows + countRows(line, resize.width), 0);
  const own = countRows(lines[row], resize.width);
  return above + Math.min(own - 1, Math.floor(Math.min(column, region.width - 1) / resize.width));
}

/**
 * In xterm.js rows at the end of the screen are dropped first where the height shrinks, down to the cursor's. How many of
 * them are ours depends on where the region is.
 */
function countAroundCursor(region: LiveRegion, { width, height, isOneStep }: Resize): number {
  const { lines, row, top } = region;
  const blankRows = (firstRow: number) => Math.max(0, region.height - firstRow - lines.length);
  const removed = Math.max(0, region.height - height);
  const most = lines.length - 1 - Math.max(0, removed - blankRows(top.least));
  const least = lines.length - 1 - Math.max(0, removed - blankRows(top.most));
  const isSure = isOneStep && lines.slice(row).every((line) => line.isSettled || line.mostColumns <= width);
  if (!isSure) return followCursor(lines, row, { width, last: row - 1 });
  let rows = Number.POSITIVE_INFINITY;
  for (let last = Math.max(row, least); last <= Math.max(row, most); last++)
    rows = Math.min(rows, followCursor(lines, row, { width, last }));
  return rows;
}

/**
 * Then the lines are looked at from the last upwards. Each row that one of them needs in addition moves the cursor down, also
 * where that line is below it; and the line left as it is is the one that the cursor, moved by the lines so far, would be on.
 */
function followCursor(
  lines: readonly ScreenLine[],
  row: number,
  options: { width: number; last: number },
): number {
  let cursorRow = row;
  for (let at = options.last; at >= 0; at--)
    if (at !== cursorRow) cursorRow += countRows(lines[at], options.width) - 1;
  return cursorRow;
}

/** The rows that a line takes in a terminal of this width: the least, where terminals disagree. */
function countRows(line: ScreenLine | undefined, width: number): number {
  if (line === undefined || line.columns <= width) return 1;
  let rows = 1;
  let used = 0;
  for (const token of readTokens(line.text)) {
    const isSure = line.isSettled || token.kind === "ascii" || isWidthSettled(token.text);
    const columns = isSure ? token.columns : Math.min(token.columns, 1);
    if (token.kind === "ascii") {
      rows += Math.ceil((used + columns) / width) - 1;
      used = ((used + columns - 1) % width) + 1;
    } else if (used + columns > width) {
      rows += 1;
      used = columns;
    } else used += columns;
  }
  return rows;
}
