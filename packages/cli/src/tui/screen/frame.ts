import { FrameWriter } from "./frame-writer.ts";
import { findChanges, type RegionChange } from "./region-changes.ts";
import { anyTop, moveTop, type RegionTop } from "./region-top.ts";
import { EMPTY_LINE, type ScreenLine } from "./screen-line.ts";

/** What stands in the terminal's last rows, below everything that is finished. */
export interface LiveRegion {
  /** One line a row, at least one and never more than the terminal has rows. */
  readonly lines: readonly ScreenLine[];
  /** The size of the terminal they were drawn for. */
  readonly width: number;
  readonly height: number;
  /** Where the terminal's cursor is, from the first live line; the column is undefined where terminals differ. */
  readonly row: number;
  readonly column: number | undefined;
  readonly isCursorShown: boolean;
  readonly top: RegionTop;
}

/** What a frame is to bring about. */
export interface WantedFrame {
  /** Lines to write above the live region, once; those that are wider than the terminal are wrapped by it. */
  readonly finished: readonly ScreenLine[];
  /** The live region, at most `height` lines, none wider than `width`. */
  readonly live: readonly ScreenLine[];
  readonly width: number;
  readonly height: number;
}

/** What to write to the terminal, empty where nothing changes, and what stands there afterwards. */
export interface Frame {
  readonly output: string;
  readonly region: LiveRegion;
}

/**
 * The bytes that turn the region `shown` into the wanted one, in a terminal of unchanged size. What is on the screen
 * already is not written again, above all not lines that were live until now and are finished: they stay where they are.
 */
export function drawChanges(shown: LiveRegion, wanted: WantedFrame): Frame {
  const live = atLeastOne(wanted.live);
  const lines = [...wanted.finished, ...live];
  const writer = new FrameWriter({ row: shown.row, column: shown.column }, shown.lines.length, wanted.width);
  const kept = countKept(shown.lines, lines, wanted);
  const isReachable = lines.length - kept.count <= wanted.height;
  if (kept.isEnd || !isReachable || kept.count === shown.lines.length) {
    printFrom(writer, { shown: shown.lines, lines, start: kept.count, firstLive: wanted.finished.length });
  } else applyChanges(writer, shown.lines, lines);
  return endFrame(writer, shown, { ...wanted, live });
}

/**
 * Draws the whole region anew. The cursor is `rowsUp` rows below its first row, and whatever is from there on is erased;
 * where nothing has been drawn yet, the cursor is in the row to begin with, or behind text of somebody else in it.
 */
export function drawAnew(
  wanted: WantedFrame,
  { rowsUp, isCursorShown }: { rowsUp: number | undefined; isCursorShown: boolean },
): Frame {
  const live = atLeastOne(wanted.live);
  const writer = new FrameWriter({ row: rowsUp ?? 0, column: undefined }, 1, wanted.width);
  // Goes on to the next row unless the row is empty, as shells do it.
  if (rowsUp === undefined) writer.cursor.control(" ".repeat(Math.max(0, wanted.width - 1)));
  writer.eraseFrom(0);
  writer.printLines([...wanted.finished, ...live], wanted.finished.length);
  return endFrame(writer, { isCursorShown, top: anyTop(1, wanted.height) }, { ...wanted, live });
}

/** Leaves the region as it is and puts the cursor in the first column of the row below it. */
export function leaveRegion({ lines, row, column, width }: LiveRegion): string {
  const writer = new FrameWriter({ row, column }, lines.length, width);
  const isEmpty = lines.length === 1 && lines[0]?.text === "";
  if (isEmpty) writer.cursor.moveTo(0, 0);
  else writer.addRows(1);
  return writer.finish();
}

/** Takes the region away and leaves the cursor in the first column of the row where it began. */
export function eraseRegion({ lines, row, column, width }: LiveRegion): string {
  const writer = new FrameWriter({ row, column }, lines.length, width);
  writer.eraseFrom(0);
  return writer.finish();
}

function atLeastOne(live: readonly ScreenLine[]): readonly ScreenLine[] {
  return live.length === 0 ? [EMPTY_LINE] : live;
}

/**
 * How many lines from the first stay as they are. It ends (`isEnd`) before a finished line that takes, or may take, more
 * than its row: such a line is written without regard to rows, and everything below it anew.
 */
function countKept(shown: readonly ScreenLine[], lines: readonly ScreenLine[], wanted: WantedFrame) {
  const overlong = wanted.finished.findIndex((line) => line.mostColumns > wanted.width);
  const limit = overlong < 0 ? shown.length : Math.min(shown.length, overlong);
  let count = 0;
  while (count < limit && shown[count]?.text === lines[count]?.text) count++;
  return { count, isEnd: overlong >= 0 };
}

interface Printing {
  shown: readonly ScreenLine[];
  lines: readonly ScreenLine[];
  start: number;
  firstLive: number;
}

/** Writes all lines from `start` downwards, in place of what is there. */
function printFrom(writer: FrameWriter, { shown, lines, start, firstLive }: Printing): void {
  if (start === lines.length) return;
  if (start === shown.length) writer.addRows(1);
  else writer.eraseFrom(start);
  writer.printLines(lines.slice(start), firstLive - start);
}

/**
 * Rows are removed from the last upwards, so that those above stay where they are counted; then the region gets the rows
 * it needs; then the rest is done downwards, in rows as they are counted in the end.
 */
function applyChanges(writer: FrameWriter, shown: readonly ScreenLine[], lines: readonly ScreenLine[]): void {
  const changes = findChanges(
    shown.map(({ text }) => text),
    lines.map(({ text }) => text),
  );
  for (const { shownStart, shownCount, wantedCount } of changes.toReversed())
    if (shownCount > wantedCount) writer.removeRows(shownStart + wantedCount, shownCount - wantedCount);
  writer.addRows(lines.length - shown.length);
  for (const change of changes) applyChange(writer, change, { shown, lines });
}

function applyChange(
  writer: FrameWriter,
  { shownStart, shownCount, wantedStart, wantedCount }: RegionChange,
  { shown, lines }: { shown: readonly ScreenLine[]; lines: readonly ScreenLine[] },
): void {
  // Rows below the last line are empty as it is.
  const isLast = wantedStart + wantedCount === lines.length;
  if (wantedCount > shownCount && !isLast)
    writer.insertRows(wantedStart + shownCount, wantedCount - shownCount);
  for (let index = 0; index < wantedCount; index++) {
    const before = (index < shownCount ? shown[shownStart + index] : undefined) ?? EMPTY_LINE;
    const line = lines[wantedStart + index] ?? EMPTY_LINE;
    if (before.text !== line.text) writer.change(wantedStart + index, before, line);
  }
}

function endFrame(
  writer: FrameWriter,
  before: Pick<LiveRegion, "isCursorShown" | "top">,
  wanted: WantedFrame,
): Frame {
  const { finished, live, width, height } = wanted;
  const cursorRow = live.findLastIndex(({ cursorColumn }) => cursorColumn !== undefined);
  const cursorColumn = live[cursorRow]?.cursorColumn;
  const { cursor } = writer;
  const isCursorShown = cursorColumn !== undefined;
  if (isCursorShown) cursor.moveTo(finished.length + cursorRow, cursorColumn);
  // A screen that gets lower loses the rows below the cursor, and only then are rows at its top out of reach. So a cursor
  // that nobody sees waits in the first row.
  else if (cursor.row !== finished.length) cursor.moveTo(finished.length, 0);
  if (isCursorShown !== before.isCursorShown) cursor.control(isCursorShown ? "\x1b[?25h" : "\x1b[?25l");
  const isWrapped = finished.some(({ mostColumns }) => mostColumns > width);
  const top = moveTop(before.top, { finished: finished.length, rows: live.length, height, isWrapped });
  const { row, column } = cursor;
  const region = { lines: live, width, height, row: row - finished.length, column, isCursorShown, top };
  return { output: writer.finish(), region };
}
