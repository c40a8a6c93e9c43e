import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { LineText, withoutTrailingSpaces } from "./line-text.ts";
import { readTokens } from "./line-tokens.ts";
import { cutTokens } from "./screen-text.ts";
import { isPrintableAscii, isWidthSettled, mostColumns } from "./text-width.ts";

/** One line as it is written to the terminal. */
export interface ScreenLine {
  /** Text, styles and links only; what is opened is closed; no blanks at the end that nobody would see. */
  readonly text: string;
  readonly columns: number;
  /** More than `columns` where terminals disagree about the width; then no column within the line can be relied on. */
  readonly mostColumns: number;
  readonly isSettled: boolean;
  /** Where the cursor belongs, from 0, if on this line. */
  readonly cursorColumn: number | undefined;
}

/** A line without text, and without the cursor. */
export const EMPTY_LINE: ScreenLine = toPlainLine("");

// Of a longer line than this no more is read than can be shown: somebody may print megabytes without a line end.
const LONG_CHARACTERS = 20_000;

/** Makes a line ready for the terminal. What exceeds `maxColumns` is cut with `…`. */
export function toScreenLine(raw: string, maxColumns = Number.POSITIVE_INFINITY): ScreenLine {
  if (isPrintableAscii(raw) && raw.length <= maxColumns) return toPlainLine(withoutTrailingSpaces(raw));
  const line = raw.toWellFormed();
  const read = readLine(line, line.length > LONG_CHARACTERS ? maxColumns : Number.POSITIVE_INFINITY);
  const isCut = read.columns > maxColumns;
  const { text, columns } = isCut ? readLine(cutLine(line, maxColumns)) : read;
  const isSettled = isWidthSettled(text);
  return {
    text,
    columns,
    mostColumns: isSettled ? columns : Math.max(columns, mostColumns(text)),
    isSettled,
    cursorColumn: findCursor(line, read.cursorColumn, maxColumns),
  };
}

/** The cursor of a line is at its last column at most, also where it belongs behind the cut. */
function findCursor(line: string, readColumn: number | undefined, maxColumns: number): number | undefined {
  if (readColumn === undefined && !line.includes(CURSOR_MARKER)) return undefined;
  return Math.max(0, Math.min(readColumn ?? maxColumns, maxColumns - 1));
}

function cutLine(line: string, maxColumns: number): string {
  return maxColumns < 1 ? "" : cutTokens(readTokens(line), maxColumns);
}

function toPlainLine(text: string): ScreenLine {
  return { text, columns: text.length, mostColumns: text.length, isSettled: true, cursorColumn: undefined };
}

interface ReadLine {
  text: string;
  columns: number;
  cursorColumn: number | undefined;
}

/** What is shown of a line, or of as much of it as exceeds `limit` columns. */
function readLine(line: string, limit = Number.POSITIVE_INFINITY): ReadLine {
  const gathered = new LineText();
  let columns = 0;
  let cursorColumn: number | undefined;
  for (const token of readTokens(line)) {
    if (token.kind === "cursor") cursorColumn = columns;
    else if (token.kind === "style") gathered.addStyle(token.text);
    else gathered.addText(token.text);
    columns += token.columns;
    if (columns > limit) break;
  }
  const { text, trimmed } = gathered.finish();
  return { text, columns: columns - trimmed, cursorColumn };
}
