import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { visibleWidth as countCarefully } from "@earendil-works/pi-tui/dist/utils.js";

/** The change that turns a line on the screen into another. */
interface LineChange {
  /** The column to start writing at. */
  readonly column: number;
  readonly text: string;
  /** The rest of the old line from there on must be erased first. */
  readonly erasesRest: boolean;
  /** The cursor's column afterwards; undefined if terminals disagree. */
  readonly columnAfter: number | undefined;
}

/** An equal end is kept only if it is longer than the sequences that may be needed to skip it. */
const WORTH_LEAVING = 8;

/**
 * How to change `shown` into `wanted`: the common beginning and end stay, if all terminals agree on their
 * columns.
 */
export function changeLine(shown: ScreenLine, wanted: ScreenLine): LineChange {
  const isSettled = shown.isSettled && wanted.isSettled;
  const erasesRest = shown !== EMPTY_LINE && (!isSettled || wanted.columns < shown.columns);
  const columnAfter = wanted.isSettled ? wanted.columns : undefined;
  const whole = { column: 0, text: wanted.text, erasesRest, columnAfter };
  const common = countCommon(shown.text, wanted.text);
  // The character after it must not combine with the one before, on either side.
  const canKeepStart =
    isWidthSettled(wanted.text.slice(0, common + 1)) && isWidthSettled(shown.text.slice(common, common + 1));
  if (!canKeepStart) return whole;
  const start = readUpTo(wanted.text, common);
  const tail = {
    ...whole,
    column: start.column,
    text: start.style.opening() + wanted.text.slice(start.index),
  };
  return (isSettled ? leaveEnd(shown, wanted, start) : undefined) ?? tail;
}

/** The change without the common end of both lines, if that begins in the same column and style. */
function leaveEnd(shown: ScreenLine, wanted: ScreenLine, start: LineLocation): LineChange | undefined {
  const least = Math.min(shown.text.length, wanted.text.length) - start.index;
  const count = countCommonEnd(shown.text, wanted.text, least);
  if (count < WORTH_LEAVING) return undefined;
  const end = readUpTo(wanted.text, wanted.text.length - count);
  const shownEnd = readUpTo(shown.text, shown.text.length - count);
  const isSamePlace =
    end.column === shownEnd.column &&
    end.style.opening() === shownEnd.style.opening() &&
    wanted.text.length - end.index === shown.text.length - shownEnd.index;
  if (!isSamePlace || end.index <= start.index) return undefined;
  return {
    column: start.column,
    text: start.style.opening() + wanted.text.slice(start.index, end.index) + end.style.closing(),
    erasesRest: false,
    columnAfter: end.column,
  };
}

function countCommon(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let count = 0;
  while (count < length && one.charCodeAt(count) === other.charCodeAt(count)) count++;
  return count;
}

function countCommonEnd(one: string, other: string, most: number): number {
  let count = 0;
  while (count < most && one.at(-1 - count) === other.at(-1 - count)) count++;
  return count;
}

interface LineLocation {
  /** The offset in the text: the requested one, or the start of the sequence or character around it. */
  readonly index: number;
  readonly column: number;
  readonly style: LineStyle;
}

function readUpTo(text: string, limit: number): LineLocation {
  const style = new LineStyle();
  let column = 0;
  let index = 0;
  for (const token of readTokens(text)) {
    if (index + token.text.length > limit) {
      const kept = token.kind === "ascii" ? (cutToken(token, limit - index)?.columns ?? 0) : 0;
      return { index: index + kept, column: column + kept, style };
    }
    if (token.kind === "style") style.apply(token.text);
    column += token.columns;
    index += token.text.length;
  }
  return { index, column, style };
}

/** The attributes that an SGR parameter below 30 sets, and the parameter that resets each. */
const ATTRIBUTE_ENDS: ReadonlyMap<number, readonly number[]> = new Map([
  [22, [1, 2]],
  [23, [3, 20]],
  [24, [4, 21]],
  [25, [5, 6]],
  [27, [7]],
  [28, [8]],
  [29, [9]],
]);

// Attributes that are set by more than one parameter.
const FOREGROUND = 38;
const BACKGROUND = 48;
const UNDERLINE_COLOR = 58;
const OVERLINE = 53;
const RESET = "\x1b[m";
const LINK_END = "\x1b]8;;\x1b\\";
// Bold, dim, italic, blinking, hidden and the foreground colour: they are invisible on a blank.
const UNSEEN_ON_BLANKS: ReadonlySet<number> = new Set([1, 2, 3, 5, 6, 8, FOREGROUND, UNDERLINE_COLOR]);

/**
 * The attributes, colours and link in effect at a position of a line, after the SGR (`CSI … m`) and OSC 8
 * sequences before it. A line begins with none.
 */
export class LineStyle {
  private readonly slots = new Map<number, string>();
  private link = "";

  /** Nothing is in effect: the following text is plain. */
  get isPlain(): boolean {
    return this.slots.size === 0 && this.link === "";
  }

  /** A blank in this style looks different from a plain one. */
  get isSeenOnBlanks(): boolean {
    return this.link !== "" || [...this.slots.keys()].some((slot) => !UNSEEN_ON_BLANKS.has(slot));
  }

  /** Applies one complete SGR or OSC 8 sequence. */
  apply(sequence: string): void {
    if (sequence.startsWith("\x1b]8;")) this.applyLink(sequence);
    else this.applyAttributes(sequence.slice(2, -1).split(";"));
  }

  /** The sequences that set this style, starting from none. */
  opening(): string {
    const codes = [...this.slots.values()];
    return this.link + (codes.length === 0 ? "" : `\x1b[${codes.join(";")}m`);
  }

  /** The sequences that end it. */
  closing(): string {
    return (this.slots.size === 0 ? "" : RESET) + (this.link === "" ? "" : LINK_END);
  }

  /** The fewest sequences that change the style `before` into this one; none if they are equal. */
  changeFrom(before: LineStyle): string {
    return this.changeAttributesFrom(before) + (this.link === before.link ? "" : this.link || LINK_END);
  }

  copy(): LineStyle {
    const copy = new LineStyle();
    for (const [slot, attribute] of this.slots) copy.slots.set(slot, attribute);
    copy.link = this.link;
    return copy;
  }

  private changeAttributesFrom(before: LineStyle): string {
    const isEnded = [...before.slots.keys()].some((slot) => !this.slots.has(slot));
    if (isEnded) return this.slots.size === 0 ? RESET : `\x1b[0;${[...this.slots.values()].join(";")}m`;
    const changed = [...this.slots].flatMap(([slot, attribute]) =>
      before.slots.get(slot) === attribute ? [] : [attribute],
    );
    return changed.length === 0 ? "" : `\x1b[${changed.join(";")}m`;
  }

  private applyLink(sequence: string): void {
    const body = sequence.slice(4, sequence.endsWith("\x07") ? -1 : -2);
    this.link = body.slice(body.indexOf(";") + 1) === "" ? "" : sequence;
  }

  private applyAttributes(parameters: readonly string[]): void {
    for (let at = 0; at < parameters.length; ) {
      const length = parameterLength(parameters, at);
      this.applyAttribute(parameters.slice(at, at + length).join(";"));
      at += length;
    }
  }

  /** One attribute with its parameters, such as `1`, `38;5;208` or `4:3`. */
  private applyAttribute(attribute: string): void {
    const code = Number.parseInt(attribute, 10) || 0;
    const ended = ATTRIBUTE_ENDS.get(code);
    if (code === 0) this.slots.clear();
    else if (ended !== undefined) for (const slot of ended) this.slots.delete(slot);
    else if (code === 39) this.slots.delete(FOREGROUND);
    else if (code === 49) this.slots.delete(BACKGROUND);
    else if (code === 55) this.slots.delete(OVERLINE);
    else if (code === 59) this.slots.delete(UNDERLINE_COLOR);
    else if (attribute === "4:0") this.slots.delete(4);
    else this.slots.set(slotOf(code), attribute);
  }
}

/** Colours with semicolons have further parameters: `38;5;N` two, `38;2;R;G;B` four. */
function parameterLength(parameters: readonly string[], at: number): number {
  const isColor = ["38", "48", "58"].includes(parameters[at] ?? "");
  if (!isColor) return 1;
  if (parameters[at + 1] === "5") return 3;
  return parameters[at + 1] === "2" ? 5 : 1;
}

function slotOf(code: number): number {
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return FOREGROUND;
  if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) return BACKGROUND;
  return code;
}

const BLANKS = /^ *$/;

/** Builds the styled text of a line in as few bytes as possible. */
class LineText {
  private text = "";
  /** The style requested by the sequences so far, and the style written so far. */
  private readonly style = new LineStyle();
  private written = new LineStyle();
  private isStyleNew = false;

  /** Applies one complete SGR or OSC 8 sequence. */
  addStyle(sequence: string): void {
    this.style.apply(sequence);
    this.isStyleNew = true;
  }

  addText(text: string): void {
    if (this.isStyleNew) this.changeStyle(text);
    this.text += text;
  }

  /** The whole line, with everything closed; invisible blanks at its end are left out. */
  finish(): { text: string; trimmed: number } {
    const text = this.written.isSeenOnBlanks ? this.text : withoutTrailingSpaces(this.text);
    return { text: text + this.written.closing(), trimmed: this.text.length - text.length };
  }

  private changeStyle(text: string): void {
    const isSeen = this.style.isSeenOnBlanks || this.written.isSeenOnBlanks || !BLANKS.test(text);
    if (!isSeen) return;
    this.text += this.style.changeFrom(this.written);
    this.written = this.style.copy();
    this.isStyleNew = false;
  }
}

/** Wider blanks stay: they are text. */
function withoutTrailingSpaces(text: string): string {
  return text.endsWith(" ") ? text.replace(/ +$/, "") : text;
}

/** A part of a line that may be shown. */
type LineToken =
  /** Printable ASCII, which can be split anywhere. */
  | { kind: "ascii"; text: string; columns: number }
  /** What people see as one character. */
  | { kind: "grapheme"; text: string; columns: number }
  /** An SGR or OSC 8 sequence. */
  | { kind: "style"; text: string; columns: 0 }
  /** The cursor position. */
  | { kind: "cursor"; text: string; columns: 0 };

const ESCAPE = "\\x1b";
const STRING_END = `(?:\\x07|${ESCAPE}\\\\)`;
const PIECE = new RegExp(
  [
    CURSOR_MARKER,
    `(?<style>${ESCAPE}\\[[\\d;:]*m|${ESCAPE}\\]8;\\P{Cc}*${STRING_END})`,
    "(?<text>\\P{Cc}+)",
    "(?<blank>[\\t\\n\\r])",
    // Everything else that begins with an escape is removed as a whole, and so is any other control
    // character.
    `${ESCAPE}\\[[0-?]*[ -\\/]*[@-~]`,
    `${ESCAPE}[\\]PX^_]\\P{Cc}*${STRING_END}?`,
    "\\p{Cc}",
  ].join("|"),
  "gu",
);

const segmenter = new Intl.Segmenter();

/**
 * The parts of a line, in order, parsed lazily. Only styles, links and pi-tui's cursor marker pass; every
 * other sequence and control character is removed, even if a caller forgot to sanitize. Tabs and line ends
 * become spaces.
 */
export function* readTokens(line: string): Generator<LineToken> {
  for (const { 0: piece, groups = {} } of line.matchAll(PIECE)) {
    if (groups.text !== undefined) yield* segmentText(piece);
    else if (groups.style !== undefined) yield { kind: "style", text: piece, columns: 0 };
    else if (groups.blank !== undefined) yield toSpaces(piece);
    else if (piece === CURSOR_MARKER) yield { kind: "cursor", text: piece, columns: 0 };
  }
}

/** The line with the character under the cursor inverted, instead of pi-tui's cursor marker. */
export function drawCursor(line: string): string {
  if (!line.includes(CURSOR_MARKER)) return line;
  let text = "";
  let isDue = false;
  for (const token of readTokens(line)) {
    const isText = token.kind === "ascii" || token.kind === "grapheme";
    if (token.kind === "cursor") isDue = true;
    else if (!isDue || !isText) text += token.text;
    else {
      const under = token.kind === "ascii" ? token.text.slice(0, 1) : token.text;
      text += invert(under) + token.text.slice(under.length);
      isDue = false;
    }
  }
  return isDue ? text + invert(" ") : text;
}

function invert(character: string): string {
  return `\x1b[7m${character}\x1b[27m`;
}

/** The part of a token that fits into `columns`; empty if its first character does not. */
function cutToken(token: LineToken, columns: number): LineToken | undefined {
  if (token.columns <= columns) return token;
  if (token.kind !== "ascii" || columns < 1) return undefined;
  return { kind: "ascii", text: token.text.slice(0, columns), columns };
}

function* segmentText(text: string): Generator<LineToken> {
  if (isPrintableAscii(text)) yield { kind: "ascii", text, columns: text.length };
  else
    for (const { segment } of segmenter.segment(text))
      yield { kind: "grapheme", text: segment, columns: visibleWidth(segment) };
}

function toSpaces(blank: string): LineToken {
  const columns = blank === "\t" ? TAB_COLUMNS : 1;
  return { kind: "ascii", text: " ".repeat(columns), columns };
}

/** One line in the form that is written to the terminal. */
export interface ScreenLine {
  /** Only text, styles and links; everything opened is closed; no invisible blanks at the end. */
  readonly text: string;
  readonly columns: number;
  /**
   * More than `columns` if terminals disagree about the width; then no column within the line is reliable.
   */
  readonly mostColumns: number;
  readonly isSettled: boolean;
  /** The cursor's column, from 0, if it is on this line. */
  readonly cursorColumn: number | undefined;
}

/** A line without text and without the cursor. */
export const EMPTY_LINE: ScreenLine = toPlainLine("");

// Only this much of a longer line is parsed, more than can be shown: a program may print megabytes without a
// line end.
const LONG_CHARACTERS = 20_000;

/** Prepares a line for the terminal. What exceeds `maxColumns` is cut with `…`. */
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

/** The cursor is at most in the last column, even if it belongs after the cut. */
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

/** The visible part of a line, or as much as exceeds `limit` columns. */
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

/** The columns of a tab on our screen, wherever it is; pi-tui's editor counts the same. */
export const TAB_COLUMNS = 3;

/**
 * Text whose width Bun counts differently than terminals show it: tabs, marks that take their own column
 * (Indic, Burmese), half a flag, blank letters, and pi-tui's cursor marker. The marks are Unicode's, plus
 * those in the tables of older terminals.
 */
const UNCOUNTED =
  /[\t\p{Mc}\u{1f1e6}-\u{1f1ff}\u3164\uffa0\u065f\u0f7f\u102b\u102c\u1031\u1033-\u1035\u1038\u103a-\u103e]/u;

/** Characters that every terminal shows in the same number of columns, alone and next to each other. */
const SETTLED =
  /^[\p{Cc} -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0373\u0376\u0377\u037a-\u037f\u0384-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u20a0-\u20bf\u2190-\u2193\u21d0-\u21d5\u2200-\u22ff\u2500-\u25a9\u25ac-\u25b5\u25b7-\u25bf\u25c1-\u25fa\u2713\u2717\u2800-\u28ff\u3000-\u3029\u3041-\u3096\u309b-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9f]*$/u;
const ASCII = /^[ -~]*$/;

/**
 * The width of a line on our screen in columns; escape sequences take none. Uses Bun's count, which is fifty
 * times faster than one in JavaScript, except for texts that it miscounts.
 */
export function visibleWidth(text: string): number {
  if (text.includes(CURSOR_MARKER)) return visibleWidth(text.replaceAll(CURSOR_MARKER, ""));
  return UNCOUNTED.test(text) ? sumCharacters(text) : Bun.stringWidth(text);
}

/** Counts character by character, so that a text is as wide as its characters together. */
function sumCharacters(text: string): number {
  let columns = 0;
  for (const { segment } of segmenter.segment(Bun.stripANSI(text))) {
    columns += UNCOUNTED.test(segment) ? countCarefully(segment) : Bun.stringWidth(segment);
  }
  return columns;
}

/** True for text of printable ASCII characters only: as many columns as characters. */
export function isPrintableAscii(text: string): boolean {
  return ASCII.test(text);
}

/**
 * False for text whose width terminals disagree about: emoji and their parts, combining marks, characters of
 * newer Unicode versions. Escape sequences make no difference.
 */
export function isWidthSettled(text: string): boolean {
  return SETTLED.test(text);
}

/** The maximum width of `text`, in a terminal that shows each of its characters separately. */
function mostColumns(text: string): number {
  let columns = 0;
  for (const character of Bun.stripANSI(text)) {
    if (character <= "\x7f") columns += 1;
    else if (!/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) columns += /\p{Mc}/u.test(character) ? 1 : 2;
  }
  return columns;
}

/** Replaces the rest of a line that was cut. */
export const ELLIPSIS = "…";

/** The beginning of a line, at most `width` columns including a final `…`, styles and links closed. */
export function cutTokens(tokens: Iterable<LineToken>, width: number): string {
  const style = new LineStyle();
  let text = "";
  let room = width - 1;
  for (const token of tokens) {
    const part = cutToken(token, room);
    if (part !== undefined) text += part.text;
    if (part !== token) break;
    if (token.kind === "style") style.apply(token.text);
    room -= token.columns;
  }
  return text + ELLIPSIS + style.closing();
}
