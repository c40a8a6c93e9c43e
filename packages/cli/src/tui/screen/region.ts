import { isWidthSettled, readTokens, type ScreenLine } from "./line.ts";

/** A range of lines that is replaced by another; either may be empty. */
export interface RegionChange {
  readonly shownStart: number;
  readonly shownCount: number;
  readonly wantedStart: number;
  readonly wantedCount: number;
}

/** Moving lines costs two sequences of about ten bytes each, including the cursor movement. */
const WORTH_MOVING_BYTES = 24;

/**
 * The changes that turn the lines `shown` into `wanted`. Everything between stays, and moves up or down if
 * the counts of a change differ. Not the fewest possible changes, but few, and never a change just to keep
 * some blank lines.
 */
export function findChanges(shown: readonly string[], wanted: readonly string[]): RegionChange[] {
  const all = { shownStart: 0, shownCount: shown.length, wantedStart: 0, wantedCount: wanted.length };
  return splitRange(shown, wanted, all).flatMap((change) => pairLines(shown, wanted, change));
}

function splitRange(
  shown: readonly string[],
  wanted: readonly string[],
  range: RegionChange,
): RegionChange[] {
  const change = trimEqual(shown, wanted, range);
  if (change.shownCount === 0 && change.wantedCount === 0) return [];
  const block = findBlock(shown, wanted, change);
  if (block.bytes < WORTH_MOVING_BYTES) return [change];
  const above = {
    ...change,
    shownCount: block.shownStart - change.shownStart,
    wantedCount: block.wantedStart - change.wantedStart,
  };
  const below = rangeBetween(
    { shown: block.shownStart + block.count, wanted: block.wantedStart + block.count },
    { shown: change.shownStart + change.shownCount, wanted: change.wantedStart + change.wantedCount },
  );
  return [...splitRange(shown, wanted, above), ...splitRange(shown, wanted, below)];
}

interface Position {
  shown: number;
  wanted: number;
}

function rangeBetween(start: Position, end: Position): RegionChange {
  return {
    shownStart: start.shown,
    shownCount: end.shown - start.shown,
    wantedStart: start.wanted,
    wantedCount: end.wanted - start.wanted,
  };
}

/** The range without equal lines at its beginning and end. */
function trimEqual(shown: readonly string[], wanted: readonly string[], range: RegionChange): RegionChange {
  const start = { shown: range.shownStart, wanted: range.wantedStart };
  const end = {
    shown: range.shownStart + range.shownCount,
    wanted: range.wantedStart + range.wantedCount,
  };
  const isOpen = () => start.shown < end.shown && start.wanted < end.wanted;
  for (; isOpen() && shown[start.shown] === wanted[start.wanted]; start.shown++) start.wanted++;
  for (; isOpen() && shown[end.shown - 1] === wanted[end.wanted - 1]; end.shown--) end.wanted--;
  return rangeBetween(start, end);
}

/** The longest equal run of lines in both, in bytes. */
function findBlock(shown: readonly string[], wanted: readonly string[], range: RegionChange) {
  const best = { bytes: 0, shownStart: 0, wantedStart: 0, count: 0 };
  // The length and bytes of the equal run that ends at each line of `shown` and at the previous line of
  // `wanted`.
  let above = new Map<number, { count: number; bytes: number }>();
  for (let wantedAt = range.wantedStart; wantedAt < range.wantedStart + range.wantedCount; wantedAt++) {
    const here = new Map<number, { count: number; bytes: number }>();
    for (let shownAt = range.shownStart; shownAt < range.shownStart + range.shownCount; shownAt++) {
      if (shown[shownAt] !== wanted[wantedAt]) continue;
      const before = above.get(shownAt - 1) ?? { count: 0, bytes: 0 };
      const run = { count: before.count + 1, bytes: before.bytes + (wanted[wantedAt]?.length ?? 0) };
      here.set(shownAt, run);
      if (run.bytes <= best.bytes) continue;
      const { count, bytes } = run;
      Object.assign(best, {
        bytes,
        count,
        shownStart: shownAt - count + 1,
        wantedStart: wantedAt - count + 1,
      });
    }
    above = here;
  }
  return best;
}

/**
 * Splits a change into lines that are replaced one to one, and one run that is added or removed between them,
 * at the position that leaves the least to write: the last line of a growing text is still paired with
 * itself, and so is the clock line below it.
 */
function pairLines(
  shown: readonly string[],
  wanted: readonly string[],
  change: RegionChange,
): RegionChange[] {
  const { shownStart, wantedStart } = change;
  const paired = Math.min(change.shownCount, change.wantedCount);
  const added = change.wantedCount - change.shownCount;
  if (added === 0 || paired === 0) return [change];
  const costOf = (shownAt: number, wantedAt: number) =>
    countDifferent(shown[shownStart + shownAt] ?? "", wanted[wantedStart + wantedAt] ?? "");
  const shownShift = Math.max(0, -added);
  const wantedShift = Math.max(0, added);
  let cost = 0;
  let best = { above: 0, cost };
  for (let above = 1; above <= paired; above++) {
    const at = above - 1;
    // One more line paired above the run is one fewer below it, where it would be paired with another line.
    cost += costOf(at, at) - costOf(at + shownShift, at + wantedShift);
    cost +=
      wantedShift > 0
        ? lengthAt(wanted, wantedStart + at + wantedShift) - lengthAt(wanted, wantedStart + at)
        : 0;
    if (cost <= best.cost) best = { above, cost };
  }
  const runEnd = { shown: best.above + shownShift, wanted: best.above + wantedShift };
  return [
    { shownStart, shownCount: best.above, wantedStart, wantedCount: best.above },
    {
      shownStart: shownStart + best.above,
      shownCount: shownShift,
      wantedStart: wantedStart + best.above,
      wantedCount: wantedShift,
    },
    {
      shownStart: shownStart + runEnd.shown,
      shownCount: paired - best.above,
      wantedStart: wantedStart + runEnd.wanted,
      wantedCount: paired - best.above,
    },
  ].filter(({ shownCount, wantedCount }) => shownCount + wantedCount > 0);
}

function lengthAt(lines: readonly string[], index: number): number {
  return lines[index]?.length ?? 0;
}

/** How many characters of `wanted` differ from `shown`, between the common beginning and end. */
function countDifferent(shown: string, wanted: string): number {
  const length = Math.min(shown.length, wanted.length);
  let start = 0;
  while (start < length && shown[start] === wanted[start]) start++;
  let end = 0;
  while (end < length - start && shown.at(-1 - end) === wanted.at(-1 - end)) end++;
  return wanted.length - start - end;
}

/**
 * The screen row, from 0, of a region's first row, as a range; both limits are equal if it is known exactly.
 */
interface RegionTop {
  readonly min: number;
  readonly max: number;
}

/**
 * Asks the terminal for its cursor position. The reply looks like the key F3, so it counts only when it is
 * expected.
 */
export const PLACE_QUERY = "\x1b[6n";
const PLACE_REPLY = /^\p{Cc}\[(?<row>\d+);\d+R$/u;

/** The row of the cursor, from 0, in a reply to `PLACE_QUERY`; undefined for other input. */
export function readLocation(input: string): number | undefined {
  const row = PLACE_REPLY.exec(input)?.groups?.row;
  return row === undefined ? undefined : Number(row) - 1;
}

/** The possible positions of a region of `rows` rows, if nothing is known. */
export function anyTop(rows: number, height: number): RegionTop {
  return { min: 0, max: Math.max(0, height - rows) };
}

/** The position of a region after `finished` lines were written above it and it has `rows` rows. */
export function moveTop(
  top: RegionTop,
  {
    finished,
    rows,
    height,
    isWrapped,
  }: { finished: number; rows: number; height: number; isWrapped: boolean },
): RegionTop {
  const lowest = Math.max(0, height - rows);
  return {
    min: Math.min(top.min + finished, lowest),
    // Lines that the terminal wrapped take an unknown number of rows.
    max: isWrapped ? lowest : Math.min(top.max + finished, lowest),
  };
}

/**
 * The position of a region of `rows` rows whose row `row` has the cursor, which is in screen row `cursorRow`;
 * undefined if that is impossible.
 */
export function topFromCursor(
  cursorRow: number,
  { row, rows, height }: { row: number; rows: number; height: number },
): RegionTop | undefined {
  const top = cursorRow - row;
  return top >= 0 && top + rows <= height ? { min: top, max: top } : undefined;
}

/** What happened to a terminal since a region was drawn in it. */
interface Resize {
  width: number;
  height: number;
  rewrap: Rewrap;
  /** The size changed exactly once. Otherwise it may have been smaller in between. */
  isOneStep: boolean;
}

/**
 * How many rows the cursor is below the first row of a region after a resize. If that is not known exactly,
 * it is the minimum: rows left above stay on the screen as a remainder, while a number that is too large
 * would erase finished lines.
 */
export function countRowsAbove(region: DrawnRegion, resize: Resize): number {
  const { lines, row, column = 0 } = region;
  if (resize.rewrap === "keeps_rows") return row;
  if (resize.rewrap === "rewraps_around_cursor") return countAroundCursor(region, resize);
  const above = lines.slice(0, row).reduce((rows, line) => rows + countRows(line, resize.width), 0);
  const own = countRows(lines[row], resize.width);
  return above + Math.min(own - 1, Math.floor(Math.min(column, region.width - 1) / resize.width));
}

/**
 * xterm.js first drops rows at the end of the screen, down to the cursor's, when the height shrinks. How many
 * of them are ours depends on the position of the region.
 */
function countAroundCursor(region: DrawnRegion, { width, height, isOneStep }: Resize): number {
  const { lines, row, top } = region;
  const blankRows = (firstRow: number) => Math.max(0, region.height - firstRow - lines.length);
  const removed = Math.max(0, region.height - height);
  const max = lines.length - 1 - Math.max(0, removed - blankRows(top.min));
  const min = lines.length - 1 - Math.max(0, removed - blankRows(top.max));
  const isSure = isOneStep && lines.slice(row).every((line) => line.isSettled || line.mostColumns <= width);
  if (!isSure) return followCursor(lines, row, { width, last: row - 1 });
  let rows = Number.POSITIVE_INFINITY;
  for (let last = Math.max(row, min); last <= Math.max(row, max); last++)
    rows = Math.min(rows, followCursor(lines, row, { width, last }));
  return rows;
}

/**
 * It then processes the lines from the last upwards. Each additional row of a line moves the cursor down,
 * even if the line is below it. The line that is not rewrapped is the one where the cursor, moved by the
 * lines so far, would be.
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

/** The rows that a line takes in a terminal of this width; the minimum if terminals disagree. */
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

/**
 * What a terminal does with the rows on its screen when its width changes.
 * - `rewraps`: lines are rewrapped, and the cursor stays with its character: tmux, VTE, kitty, iTerm2 and
 *   most others.
 * - `rewraps_around_cursor`: lines are rewrapped, except the one that the cursor is assumed to be on, which
 *   is cut off; the cursor may end up below its character: xterm.js, on which VS Code's terminal is built.
 * - `keeps_rows`: every row stays a row, cut off: xterm, GNU screen, mosh, the Linux console.
 */
export type Rewrap = "rewraps" | "rewraps_around_cursor" | "keeps_rows";

/** Makes a terminal identify itself (`CSI > c`). */
export const DEVICE_QUERY = "\x1b[>c";
const DEVICE_REPLY = /^\p{Cc}\[>(?<device>[\d;]*)c$/u;

const XTERM_JS = "0;276;0";
// xterm, GNU screen, mosh.
const KEEPS_ROWS = /^(41;\d+;\d+|83;\d+;\d+|1;10;0)$/;

/** The numbers in a reply to `DEVICE_QUERY`; undefined for other input. */
export function readDevice(input: string): string | undefined {
  return DEVICE_REPLY.exec(input)?.groups?.device;
}

/** What identifies a terminal: its environment variables and its replies. */
export interface TerminalTraits {
  /** `TERM` and `TERM_PROGRAM` of the environment. */
  term: string | undefined;
  termProgram: string | undefined;
  /** The numbers in the reply to `DEVICE_QUERY`, once there is one. */
  device: string | undefined;
  /** It has answered another query, so it would have answered this one. */
  hasAnswered: boolean;
}

/**
 * A terminal's behaviour, as far as its traits show it. A terminal that does not identify itself at all is
 * one inside another program, and most of those are built on xterm.js.
 */
export function detectRewrap({ term = "", termProgram, device, hasAnswered }: TerminalTraits): Rewrap {
  if (device !== undefined && device !== XTERM_JS) return KEEPS_ROWS.test(device) ? "keeps_rows" : "rewraps";
  if (device === XTERM_JS || termProgram === "vscode") return "rewraps_around_cursor";
  if (/^(linux|screen|st)\b/.test(term)) return "keeps_rows";
  return hasAnswered ? "rewraps" : "rewraps_around_cursor";
}

/**
 * A position in the redrawn region, from 0; the region's first line is row 0, wherever it is on the screen.
 */
export interface RegionLocation {
  row: number;
  /** Undefined if terminals differ. */
  column: number | undefined;
}

/**
 * Collects output and tracks the cursor. Movements are relative, because the region's first row is unknown.
 */
export class CursorWriter {
  private output = "";

  /** Starts with the cursor at `place`, in a terminal of `width` columns. */
  constructor(
    private place: RegionLocation,
    private readonly width: number,
  ) {}

  get row(): number {
    return this.place.row;
  }

  get column(): number | undefined {
    return this.place.column;
  }

  /** All collected output. */
  get written(): string {
    return this.output;
  }

  /** Writes output that leaves the cursor where it is, or at least not further down. */
  control(sequence: string): void {
    this.output += sequence;
  }

  /**
   * Writes output after which the cursor is in this column of its row; at the right edge terminals differ in
   * that.
   */
  write(text: string, columnAfter: number | undefined): void {
    this.output += text;
    const isInside = columnAfter !== undefined && columnAfter < this.width;
    this.place = { row: this.place.row, column: isInside ? columnAfter : undefined };
  }

  /** Moves to the beginning of the next row, like `moveToRow` does downwards. */
  startNextRow(): void {
    this.output += "\r\n";
    this.place = { row: this.place.row + 1, column: 0 };
  }

  moveTo(row: number, column: number): void {
    this.moveToRow(row);
    if (column !== this.place.column) this.output += column === 0 ? "\r" : `\x1b[${column + 1}G`;
    this.place = { row, column };
  }

  /**
   * Moves down by line feeds, which scroll at the end of the screen, where a cursor sequence would stop. If
   * the terminal got smaller before it reads this, the cursor must not end up above its expected row: the
   * next frame would erase finished lines from there.
   */
  moveToRow(row: number): void {
    const down = row - this.place.row;
    if (down === 0) return;
    if (down > 0) this.output += `\r${"\n".repeat(down)}`;
    else this.output += `\x1b[${down < -1 ? -down : ""}A`;
    this.place = { row, column: down > 0 ? 0 : this.place.column };
  }
}

/** The content of the terminal's last rows, below everything finished. */
export interface DrawnRegion {
  /** One line per row, at least one and never more than the terminal has rows. */
  readonly lines: readonly ScreenLine[];
  /** The terminal size they were drawn for. */
  readonly width: number;
  readonly height: number;
  /** The cursor's position, relative to the first live line; the column is undefined if terminals differ. */
  readonly row: number;
  readonly column: number | undefined;
  readonly isCursorShown: boolean;
  readonly top: RegionTop;
}
