import { changeLine, EMPTY_LINE, type ScreenLine } from "./line.ts";
import {
  anyTop,
  CursorWriter,
  type DrawnRegion,
  findChanges,
  moveTop,
  type RegionChange,
  type RegionLocation,
} from "./region.ts";
import type { Settling } from "./terminal-replies.ts";

/** The goal of a frame. */
export interface WantedFrame {
  /** Lines to write above the live region, once; the terminal wraps those that are too wide. */
  readonly finished: readonly ScreenLine[];
  /** The live region, at most `height` lines, none wider than `width`. */
  readonly live: readonly ScreenLine[];
  readonly width: number;
  readonly height: number;
  /**
   * The cursor waits in the first live row between frames, so that the frame stays correct if the terminal rewraps its
   * rows before it reads it: terminals keep the cursor at its character, so all output lands below the finished lines.
   * For that, finished lines are always written, even if they are already on the screen, and live rows are cut off
   * instead of wrapped.
   */
  readonly isParked?: boolean;
}

/** The bytes to write to the terminal, empty if nothing changes, and the region afterwards. */
export interface Frame {
  readonly output: string;
  readonly region: DrawnRegion;
}

/**
 * The bytes that turn the region `shown` into the wanted one, in a terminal of unchanged size. Lines that are
 * already on the screen are not written again, especially not live lines that have become finished: they stay
 * where they are.
 */
export function drawChanges(shown: DrawnRegion, wanted: WantedFrame): Frame {
  const live = atLeastOne(wanted.live);
  const lines = [...wanted.finished, ...live];
  const writer = new FrameWriter({ row: shown.row, column: shown.column }, shown.lines.length, wanted);
  const kept = countKept(shown.lines, lines, wanted);
  const isReachable = lines.length - kept.count <= wanted.height;
  if (kept.isEnd || !isReachable || kept.count === shown.lines.length) {
    printFrom(writer, { shown: shown.lines, lines, start: kept.count, firstLive: wanted.finished.length });
  } else applyChanges(writer, shown.lines, lines);
  return endFrame(writer, shown, { ...wanted, live });
}

/**
 * Redraws the whole region. The cursor is `rowsUp` rows below its first row, and everything from there on is
 * erased. If nothing has been drawn yet, the cursor is in the first row to use, possibly after foreign text.
 */
export function redrawRegion(
  wanted: WantedFrame,
  { rowsUp, isCursorShown }: { rowsUp: number | undefined; isCursorShown: boolean },
): Frame {
  const live = atLeastOne(wanted.live);
  const writer = new FrameWriter({ row: rowsUp ?? 0, column: undefined }, 1, wanted);
  // Moves to the next row unless this one is empty, like shells do.
  if (rowsUp === undefined) writer.cursor.control(" ".repeat(Math.max(0, wanted.width - 1)));
  writer.eraseFrom(0);
  writer.printLines([...wanted.finished, ...live], wanted.finished.length);
  return endFrame(writer, { isCursorShown, top: anyTop(1, wanted.height) }, { ...wanted, live });
}

/** Leaves the region on the screen and moves the cursor to the first column of the row below it. */
export function leaveRegion(region: DrawnRegion): string {
  const { lines, row, column } = region;
  const writer = new FrameWriter({ row, column }, lines.length, region);
  const isEmpty = lines.length === 1 && lines[0]?.text === "";
  if (isEmpty) writer.cursor.moveTo(0, 0);
  else writer.addRows(1);
  return writer.finish();
}

/** Erases the region and leaves the cursor in the first column of its first row. */
export function eraseRegion(region: DrawnRegion): string {
  const { lines, row, column } = region;
  const writer = new FrameWriter({ row, column }, lines.length, region);
  writer.eraseFrom(0);
  return writer.finish();
}

function atLeastOne(live: readonly ScreenLine[]): readonly ScreenLine[] {
  return live.length === 0 ? [EMPTY_LINE] : live;
}

/**
 * The number of lines, from the first, that stay unchanged. Counting ends (`isEnd`) before a finished line
 * that takes, or may take, more than one row: that line and everything below it are rewritten.
 */
function countKept(shown: readonly ScreenLine[], lines: readonly ScreenLine[], wanted: WantedFrame) {
  if (wanted.isParked && wanted.finished.length > 0) return { count: 0, isEnd: true };
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

/** Writes all lines from `start` on, replacing what is there. */
function printFrom(writer: FrameWriter, { shown, lines, start, firstLive }: Printing): void {
  if (start === lines.length) return;
  if (start === shown.length) writer.addRows(1);
  else writer.eraseFrom(start);
  writer.printLines(lines.slice(start), firstLive - start);
}

/**
 * Removes rows from the last upwards, so that the indices above stay valid; then adds the missing rows; then
 * makes the other changes downwards, with the final indices.
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
  // Rows below the last line are already empty.
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
  before: Pick<DrawnRegion, "isCursorShown" | "top">,
  wanted: WantedFrame,
): Frame {
  const { finished, live, width, height } = wanted;
  const cursorRow = live.findLastIndex(({ cursorColumn }) => cursorColumn !== undefined);
  const cursorColumn = live[cursorRow]?.cursorColumn;
  const { cursor } = writer;
  const isCursorShown = cursorColumn !== undefined;
  if (isCursorShown) cursor.moveTo(finished.length + cursorRow, cursorColumn);
  // When a screen gets lower, it loses the rows below the cursor first, and then pushes rows at its top out
  // of reach. A hidden cursor therefore waits in the first row.
  else if (cursor.row !== finished.length) cursor.moveTo(finished.length, 0);
  if (isCursorShown !== before.isCursorShown) cursor.control(isCursorShown ? "\x1b[?25h" : "\x1b[?25l");
  const isWrapped = finished.some(({ mostColumns }) => mostColumns > width);
  const top = moveTop(before.top, { finished: finished.length, rows: live.length, height, isWrapped });
  const { row, column } = cursor;
  const region = { lines: live, width, height, row: row - finished.length, column, isCursorShown, top };
  return { output: writer.finish(), region };
}

const SYNCHRONIZED = ["\x1b[?2026h", "\x1b[?2026l"] as const;
const WRAPPING_OFF = "\x1b[?7l";
const WRAPPING_ON = "\x1b[?7h";

/** Changes the rows of a region, and collects the output of one frame. */
class FrameWriter {
  /** The output; also for writing between changes of rows. */
  readonly cursor: CursorWriter;
  private readonly width: number;
  private readonly isParked: boolean;
  private isWrapping = true;

  /** Starts with the cursor at `place`; the region has `rows` rows, none of which the terminal may wrap. */
  constructor(
    place: RegionLocation,
    private rows: number,
    { width, isParked = false }: Pick<WantedFrame, "width" | "isParked">,
  ) {
    this.width = width;
    this.isParked = isParked;
    this.cursor = new CursorWriter(place, width);
  }

  /** Adds rows below the region; the screen scrolls if there is no room. */
  addRows(count: number): void {
    if (count < 1) return;
    this.cursor.moveToRow(this.rows - 1 + count);
    this.rows += count;
  }

  insertRows(row: number, count: number): void {
    this.cursor.moveToRow(row);
    this.cursor.write(`\x1b[${count > 1 ? count : ""}L`, undefined);
  }

  removeRows(row: number, count: number): void {
    this.cursor.moveToRow(row);
    this.cursor.write(`\x1b[${count > 1 ? count : ""}M`, undefined);
  }

  /** Erases a row and everything below it. */
  eraseFrom(row: number): void {
    this.cursor.moveTo(row, 0);
    // Erasing a whole screen from its first cell downwards would move it to the scrollback in tmux, including
    // the region.
    this.cursor.control(row === 0 ? "\x1b[K\x1b[2G\x1b[J\r" : "\x1b[J");
  }

  /** Turns the line `shown` in `row` into `wanted`. */
  change(row: number, shown: ScreenLine, wanted: ScreenLine): void {
    const { column, text, erasesRest, columnAfter } = changeLine(shown, wanted);
    this.cursor.moveTo(row, column);
    // Before the text: after a full line, some terminals would erase its last character.
    if (erasesRest) this.cursor.control("\x1b[K");
    this.keepRow(wanted);
    this.cursor.write(text, columnAfter);
  }

  /**
   * Writes lines downwards from an empty row with the cursor, with nothing below. The terminal may wrap
   * lines.
   */
  printLines(lines: readonly ScreenLine[], firstKept: number): void {
    lines.forEach((line, index) => {
      if (index > 0) this.cursor.startNextRow();
      if (index >= firstKept) this.keepRow(line);
      this.cursor.write(line.text, line.isSettled ? line.columns : undefined);
    });
    this.rows = this.cursor.row + 1;
  }

  /** Everything written, as one synchronized update; empty if nothing was written. */
  finish(): string {
    if (!this.isWrapping) this.cursor.control(WRAPPING_ON);
    const { written } = this.cursor;
    return written === "" ? "" : SYNCHRONIZED.join(written);
  }

  /**
   * Breaks the line explicitly: a terminal that considers a character wider would otherwise continue in the
   * next row, and our row count would be wrong.
   */
  private keepRow(line: ScreenLine): void {
    if (!this.isWrapping || (line.mostColumns <= this.width && !this.isParked)) return;
    this.cursor.control(WRAPPING_OFF);
    this.isWrapping = false;
  }
}

// Streaming text looks smooth at 20 frames per second, and every further frame costs 40 bytes. Keys do not
// wait for it.
const FRAME_MS = 50;

/** Decides when the next frame is drawn, between `start` and `stop`. */
export class FrameClock {
  private isStarted = false;
  private lastFrameAt = Number.NEGATIVE_INFINITY;
  private nextFrame: Timer | undefined;
  private settling: Timer | undefined;
  private resizes = 0;
  private resizingSince = 0;

  /** Frames are being drawn. */
  get isRunning(): boolean {
    return this.isStarted;
  }

  /** The size has just changed and may change again, so no frame may be drawn. */
  get isSettling(): boolean {
    return this.settling !== undefined;
  }

  /** How often the size has changed since the last frame. */
  get resizeCount(): number {
    return this.resizes;
  }

  start(): void {
    this.isStarted = true;
  }

  /**
   * Calls `draw` at once, or when enough time has passed since the last frame, unless a call is already
   * scheduled.
   */
  request(draw: () => void): void {
    const waitMs = this.lastFrameAt + FRAME_MS - performance.now();
    if (waitMs <= 0) draw();
    else this.nextFrame ??= setTimeout(draw, waitMs);
  }

  /** Call it when the size has changed while frames are drawn. Calls `draw` when the size is stable. */
  noteResize(draw: () => void, { quietMs, longestMs }: Settling): void {
    if (!this.isStarted) return;
    const now = performance.now();
    this.resizes++;
    if (this.resizes === 1) this.resizingSince = now;
    this.endSettling();
    const waitMs = Math.max(0, Math.min(quietMs, this.resizingSince + longestMs - now));
    this.settling = setTimeout(draw, waitMs);
  }

  endSettling(): void {
    clearTimeout(this.settling);
    this.settling = undefined;
  }

  /** Call it when a frame is being drawn. */
  noteFrame(): void {
    this.cancel();
    this.lastFrameAt = performance.now();
    this.resizes = 0;
  }

  /** Cancels all calls. */
  stop(): void {
    this.isStarted = false;
    this.cancel();
  }

  private cancel(): void {
    clearTimeout(this.nextFrame);
    this.nextFrame = undefined;
    this.endSettling();
  }
}
