import { CursorWriter, type RegionPlace } from "./cursor-writer.ts";
import { changeLine } from "./line-change.ts";
import type { ScreenLine } from "./screen-line.ts";

const SYNCHRONISED = ["\x1b[?2026h", "\x1b[?2026l"] as const;
const WRAPPING_OFF = "\x1b[?7l";
const WRAPPING_ON = "\x1b[?7h";

/** Changes the rows of a region, and gathers what one frame writes for that. */
export class FrameWriter {
  /** Where all of it is written; for what is to come between the changes of rows. */
  readonly cursor: CursorWriter;
  private isWrapping = true;

  /** Begins with the cursor at `place`; the region has `rows` rows, none of which the terminal is to wrap at `width`. */
  constructor(
    place: RegionPlace,
    private rows: number,
    private readonly width: number,
  ) {
    this.cursor = new CursorWriter(place, width);
  }

  /** Adds rows below the region; the screen scrolls where there is no room. */
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
    // Erased from its first cell downwards, a whole screen would go to the scrollback in tmux, and the region with it.
    this.cursor.control(row === 0 ? "\x1b[K\x1b[2G\x1b[J\r" : "\x1b[J");
  }

  /** Turns the line `shown` in `row` into `wanted`. */
  change(row: number, shown: ScreenLine, wanted: ScreenLine): void {
    const { column, text, erasesRest, columnAfter } = changeLine(shown, wanted);
    this.cursor.moveTo(row, column);
    // Before the text: behind a full line it would erase the last character in some terminals.
    if (erasesRest) this.cursor.control("\x1b[K");
    this.keepRow(wanted);
    this.cursor.write(text, columnAfter);
  }

  /** Writes lines downwards from an empty row, where the cursor is, with nothing below. Lines may be wrapped by the terminal. */
  printLines(lines: readonly ScreenLine[], firstKept: number): void {
    lines.forEach((line, index) => {
      if (index > 0) this.cursor.startNextRow();
      if (index >= firstKept) this.keepRow(line);
      this.cursor.write(line.text, line.isSettled ? line.columns : undefined);
    });
    this.rows = this.cursor.row + 1;
  }

  /** Everything written, as one update that terminals show at once; nothing where nothing was to be written. */
  finish(): string {
    if (!this.isWrapping) this.cursor.control(WRAPPING_ON);
    const { written } = this.cursor;
    return written === "" ? "" : SYNCHRONISED.join(written);
  }

  /** A terminal that takes a character for wider than we do would go on in the next row, and our count of rows be wrong. */
  private keepRow(line: ScreenLine): void {
    if (!this.isWrapping || line.mostColumns <= this.width) return;
    this.cursor.control(WRAPPING_OFF);
    this.isWrapping = false;
  }
}
