import { changeLine } from "./line-change.ts";
import type { ScreenLine } from "./screen-line.ts";

const SYNCHRONISED = ["\x1b[?2026h", "\x1b[?2026l"] as const;
const WRAPPING_OFF = "\x1b[?7l";
const WRAPPING_ON = "\x1b[?7h";

/** A place in the region that is redrawn, from 0; the first line of the region is row 0, wherever it is on the screen. */
export interface RegionPlace {
  row: number;
  /** Undefined where terminals differ. */
  column: number | undefined;
}

/** Gathers what one frame writes, and knows where the cursor is after it. Moves are relative: nobody knows our first row. */
export class FrameWriter {
  private output = "";
  private isWrapping = true;

  /** Begins with the cursor at `place`; the region has `rows` rows, none of which the terminal is to wrap at `width`. */
  constructor(
    private place: RegionPlace,
    private rows: number,
    private readonly width: number,
  ) {}

  get row(): number {
    return this.place.row;
  }

  get column(): number | undefined {
    return this.place.column;
  }

  /** Writes something that leaves the cursor where it is, or at least does not leave it further down. */
  control(sequence: string): void {
    this.output += sequence;
  }

  moveTo(row: number, column: number): void {
    this.moveToRow(row);
    if (column !== this.place.column) this.output += column === 0 ? "\r" : `\x1b[${column + 1}G`;
    this.place = { row, column };
  }

  /** Adds rows below the region; the screen scrolls where there is no room. */
  addRows(count: number): void {
    if (count < 1) return;
    this.moveToRow(this.rows - 1 + count);
    this.rows += count;
  }

  insertRows(row: number, count: number): void {
    this.moveToRow(row);
    this.output += `\x1b[${count > 1 ? count : ""}L`;
    this.place = { row, column: undefined };
  }

  removeRows(row: number, count: number): void {
    this.moveToRow(row);
    this.output += `\x1b[${count > 1 ? count : ""}M`;
    this.place = { row, column: undefined };
  }

  /** Erases a row and everything below it. */
  eraseFrom(row: number): void {
    this.moveTo(row, 0);
    // Erased from its first cell downwards, a whole screen would go to the scrollback in tmux, and the region with it.
    this.output += row === 0 ? "\x1b[K\x1b[2G\x1b[J\r" : "\x1b[J";
  }

  /** Turns the line `shown` in `row` into `wanted`. */
  change(row: number, shown: ScreenLine, wanted: ScreenLine): void {
    const { column, text, erasesRest, columnAfter } = changeLine(shown, wanted);
    this.moveTo(row, column);
    // Before the text: behind a full line it would erase the last character in some terminals.
    if (erasesRest) this.output += "\x1b[K";
    this.keepRow(wanted);
    this.print(text, columnAfter);
  }

  /** Writes lines downwards from an empty row, where the cursor is, with nothing below. Lines may be wrapped by the terminal. */
  printLines(lines: readonly ScreenLine[], firstKept: number): void {
    lines.forEach((line, index) => {
      if (index > 0) this.output += "\r\n";
      if (index >= firstKept) this.keepRow(line);
      this.print(line.text, line.isSettled ? line.columns : undefined);
      this.place.row += index > 0 ? 1 : 0;
    });
    this.rows = this.place.row + 1;
  }

  /** Everything gathered, as one update that terminals show at once; nothing where nothing was to be written. */
  finish(): string {
    if (!this.isWrapping) this.output += WRAPPING_ON;
    return this.output === "" ? "" : SYNCHRONISED.join(this.output);
  }

  /** A terminal that takes a character for wider than we do would go on in the next row, and our count of rows be wrong. */
  private keepRow(line: ScreenLine): void {
    if (!this.isWrapping || line.mostColumns <= this.width) return;
    this.output += WRAPPING_OFF;
    this.isWrapping = false;
  }

  /**
   * Downwards by line feeds, which scroll at the end of the screen where a sequence would stop. When the terminal has got
   * smaller before it reads this, the cursor must not end up above where it is thought to be: from there the next frame
   * would erase finished lines.
   */
  private moveToRow(row: number): void {
    const down = row - this.place.row;
    if (down === 0) return;
    if (down > 0) this.output += `\r${"\n".repeat(down)}`;
    else this.output += `\x1b[${down < -1 ? -down : ""}A`;
    this.place = { row, column: down > 0 ? 0 : this.place.column };
  }

  /** At the right edge terminals differ in where the cursor is. */
  private print(text: string, columnAfter: number | undefined): void {
    this.output += text;
    const isInside = columnAfter !== undefined && columnAfter < this.width;
    this.place = { row: this.place.row, column: isInside ? columnAfter : undefined };
  }
}
