import type { Token } from "marked";
import { visibleWidth } from "../screen/screen-text.ts";
import { isDeeplyNested } from "./layout.ts";
import { loadedMarkdown, prepareMarkdown } from "./render.ts";
import { isClosedFence, toMarkedToken } from "./syntax.ts";

/**
 * Splits the Markdown of a streaming answer into complete blocks, which nothing can change any more, and the
 * open rest; together they are the text. The finished parts and the last rest, rendered separately, give the
 * same lines as the whole. Only complete lines are examined, so call it after a line end. Nothing is finished
 * before `loadMarkdown` is done.
 */
export function cutFinished(markdown: string): { finished: string; rest: string } {
  const at = findCut(markdown);
  return { finished: markdown.slice(0, at), rest: markdown.slice(at) };
}

function findCut(markdown: string): number {
  const libraries = loadedMarkdown();
  // Parsed as it will be rendered. That keeps every line feed, so a line number identifies a position in the
  // original.
  const lines = prepareMarkdown(markdown.slice(0, markdown.lastIndexOf("\n") + 1));
  if (!libraries || !mayHoldEnd(lines) || isDeeplyNested(lines)) return 0;
  const finished = readFinished(lines, libraries.syntax.readBlocks);
  // A part that marked altered, or that ends within a line, does not identify a position.
  if (!finished.endsWith("\n") || finished.trim() === "" || !lines.startsWith(finished)) return 0;
  return findLine(markdown, finished.split("\n").length - 1);
}

function readFinished(lines: string, readBlocks: ReadBlocks): string {
  try {
    const tokens = readBlocks(lines);
    let count = countFinished(tokens);
    // Text after a block can change how marked splits it; such a block cannot be shown without that text.
    while (count > 0 && !standAlone(tokens.slice(0, count), readBlocks)) count -= 1;
    return joinRaw(tokens.slice(0, count));
  } catch {
    // Text that marked cannot parse is shown as plain text, all at once when the answer is complete.
    return "";
  }
}

type ReadBlocks = (text: string) => Token[];

function standAlone(tokens: readonly Token[], readBlocks: ReadBlocks): boolean {
  const alone = readBlocks(joinRaw(tokens));
  return (
    alone.length === tokens.length &&
    tokens.every(({ type, raw }, index) => alone[index]?.type === type && alone[index]?.raw === raw)
  );
}

function joinRaw(tokens: readonly Token[]): string {
  return tokens.map(({ raw }) => raw).join("");
}

/**
 * Counts all blocks except the last, and the last as well if it cannot continue. A paragraph directly above
 * an open block stays with it: a line of `=` can still turn both into a heading.
 */
function countFinished(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const token = tokens[last];
  if (!token) return 0;
  if (isOver(token, tokens[last + 1])) return tokens.length;
  return tokens[last - 1]?.type === "paragraph" ? last - 1 : last;
}

/** Lists, indented code and HTML may continue after blank lines. */
function isOver(token: Token, space: Token | undefined): boolean {
  const known = toMarkedToken(token);
  switch (known?.type) {
    case "heading":
    case "hr":
      return true;
    case "code":
      return isClosedFence(known);
    case "blockquote":
    case "paragraph":
    case "table":
      return space !== undefined;
    default:
      return false;
  }
}

/**
 * False if the first block certainly continues to the end, judging by its lines alone. Otherwise a long code
 * block or list would be parsed again with each of its lines. A wrong true only costs time.
 */
function mayHoldEnd(lines: string): boolean {
  const start = /^(?:[ \t]*\n)*([^\n]*)/.exec(lines);
  const first = start?.[1] ?? "";
  const following = lines.slice((start?.[0].length ?? 0) + 1);
  const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(first) ?? [];
  if (fence !== undefined) return following.includes(fence);
  if (/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(first)) return NO_ITEM.test(following);
  if (/^ {0,3}>/.test(first)) return /^(?! {0,3}>)[\s\S]/m.test(following);
  if (first.startsWith("|")) return /^(?!\|)[\s\S]/m.test(following);
  return START_OR_BLANK.test(first) || START_OR_BLANK.test(following);
}

/** A line that is blank or looks like the start of a block other than a paragraph. */
const START_OR_BLANK = /^[ \t]*\n|^ {0,3}(?:[#>`~|<*+_=-]|\d{1,9}[.)])/m;

/** A line that is neither blank nor indented and starts no list item. */
const NO_ITEM = /^ ?(?!(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))\S/m;

/** The offset of line number `count`, counted from 0. */
function findLine(text: string, count: number): number {
  let at = 0;
  for (let line = 0; line < count; line++) at = text.indexOf("\n", at) + 1;
  return at;
}

// All rows of a longer paragraph except the last are final: the next words change only that one. As few rows
// as possible stay open: when the window becomes narrow, rows that the terminal pushes off the screen cannot
// be erased any more and would stay above their repetition. On a low screen it is one row, since a wide row
// takes several rows in a narrow window.
const MAX_OPEN_ROWS = 2;
// More rows stay open if the last one may still become something else, or shares marks with the row before it.
const MAX_KEPT_ROWS = 4;
const NARROW_COLUMNS = 40;
// The rows of the live region other than the paragraph.
const OTHER_ROWS = 7;

/** How many rows of this many columns may stay open on a screen. */
function openRows(columns: number, screenRows: number): number {
  const fitting = Math.floor((screenRows - OTHER_ROWS) / Math.ceil(columns / NARROW_COLUMNS));
  return Math.max(1, Math.min(MAX_OPEN_ROWS, fitting));
}

/** Lines of a paragraph and nothing else; none is blank. */
const PLAIN_LINES = /^(?:(?! {0,3}\d{1,9}[.)][ \t])(?: {0,3}[\p{L}\p{N}`"'(*_][^\n|]*)(?:\n|$))+$/u;
/** A start that stays a paragraph whatever follows; `55` may become the number of a list item. */
const SURE_START = /^(?:[\p{L}"'(]|\p{N}+[^\p{N}.)]|(?:\*{1,2}|_{1,2}|`)\p{L})/u;
/** Characters that may still pair with later ones. */
const MARKS = ["`", "*", "_", "~"];

/**
 * Finds where the first rows of a long streaming paragraph can be split from the rest, at a word, so that
 * both parts render as they do together. `rows` are the rows before that position. Undefined if the paragraph
 * is short or cannot safely be split.
 * @param screenRows the height of the screen: on a low one less stays open.
 */
export function cutParagraph(
  markdown: string,
  screenRows: number,
  render: (markdown: string) => string[],
): { at: number; rows: string[] } | undefined {
  if (!PLAIN_LINES.test(markdown)) return undefined;
  const all = render(markdown);
  if (all.length <= openRows(Math.max(...all.map(visibleWidth)), screenRows)) return undefined;
  for (let kept = 1; kept <= MAX_KEPT_ROWS && kept < all.length; kept++) {
    const rows = all.slice(0, -kept);
    const at = findWordBehind(markdown, shownText(rows).length, render);
    if (isDividedAt(markdown, at, { rows, kept: all.slice(-kept), render })) return { at, rows };
  }
  return undefined;
}

interface Divided {
  rows: readonly string[];
  kept: readonly string[];
  render(markdown: string): string[];
}

/** True if the text before `at` renders as `rows`, and the text after it as `kept`, whatever follows. */
function isDividedAt(markdown: string, at: number, { rows, kept, render }: Divided): boolean {
  const [head, rest] = [markdown.slice(0, at), markdown.slice(at)];
  if (!isBalanced(head) || !PLAIN_LINES.test(rest) || !SURE_START.test(rest)) return false;
  return isEqual(render(head), rows) && isEqual(render(rest), kept);
}

/** The first word that is preceded by this many characters of visible text. */
function findWordBehind(markdown: string, shown: number, render: (markdown: string) => string[]): number {
  const words = [...markdown.matchAll(/\s\S/g)].map(({ index }) => index + 1);
  let [low, high] = [0, words.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBehind = shownText(render(markdown.slice(0, words[middle]))).length >= shown;
    if (isBehind) high = middle;
    else low = middle + 1;
  }
  return words[low] ?? markdown.length;
}

function isBalanced(text: string): boolean {
  const count = (mark: string) => text.split(mark).length - 1;
  const arePaired = MARKS.every((mark) => count(mark) % 2 === 0);
  return arePaired && count("[") === count("]") && count("(") === count(")") && count("<") === count(">");
}

function isEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((row, at) => row === others[at]);
}

// After backticks that begin a fence there are no more in the same line.
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const INNER_FENCE = /^\s*(`{3,}(?!.*`)|~{3,})/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** How an item must look for a list to begin with it, at the start and below a paragraph. */
const FIRST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/;
const INTERRUPTING_ITEM = /^ {0,3}(?:[-*+]|1[.)])[ \t]/;
const PARAGRAPH = /^ {0,3}[\p{L}\p{N}*_`"'(]/u;

/**
 * The offset in the open end of an answer before which nothing changes any more, whatever follows: after a
 * line of code whose fence is still open, or before a list item. It is the beginning of a line; 0 if there is
 * none.
 */
export function findStableEnd(markdown: string): number {
  const reader = new LineReader();
  let end = 0;
  for (let at = 0; ; ) {
    const lineEnd = markdown.indexOf("\n", at);
    // An item counts once it has some text.
    const line = markdown.slice(at, lineEnd < 0 ? undefined : lineEnd);
    const stable = reader.read(line);
    if (stable === "before") end = at;
    if (lineEnd < 0) return end;
    at = lineEnd + 1;
    if (stable === "after") end = at;
  }
}

/** Tracks which block the lines are in, as far as it matters. */
class LineReader {
  private block: "none" | "paragraph" | "code" | "list" | "other" = "none";
  /** The fence of the open code. */
  private fence = "";

  /** Whether the text before this line is stable, or includes this line. */
  read(line: string): "before" | "after" | undefined {
    switch (this.block) {
      case "none":
      case "paragraph":
        return this.begin(line);
      case "code":
        return this.closes(line) ? undefined : "after";
      case "list":
        return this.readItem(line);
      case "other":
        return undefined;
    }
  }

  private begin(line: string): undefined {
    const fence = FENCE.exec(line)?.[1];
    const first = this.block === "paragraph" ? INTERRUPTING_ITEM : FIRST_ITEM;
    if (fence !== undefined) {
      this.fence = fence;
      this.block = "code";
    } else if (first.test(line)) this.block = "list";
    else if (line.trim() !== "") this.block = PARAGRAPH.test(line) ? "paragraph" : "other";
    else if (this.block === "paragraph") this.block = "other";
  }

  private closes(line: string): boolean {
    const isClosed = line.trim().startsWith(this.fence) && /^\s*([`~])\1+\s*$/.test(line);
    if (isClosed) this.block = "other";
    return isClosed;
  }

  private readItem(line: string): "before" | undefined {
    const fence = INNER_FENCE.exec(line)?.[1];
    if (this.fence === "" && fence !== undefined) this.fence = fence;
    else if (fence?.startsWith(this.fence)) this.fence = "";
    return this.fence === "" && ITEM.test(line) ? "before" : undefined;
  }
}

// A large screen shows ten thousand characters; text above them is not laid out again with every frame.
const MAX_CHARS = 16_000;
const SHOWN_CHARS = 12_000;
// Keeps line breaks from moving with every new word.
const STEP_CHARS = 2_000;

/** As much of the open end of an answer as a screen can show, starting at a line if there is one. */
export function liveTail(markdown: string): string {
  if (markdown.length <= MAX_CHARS) return markdown;
  const start = Math.floor((markdown.length - SHOWN_CHARS) / STEP_CHARS) * STEP_CHARS;
  const lineEnd = markdown.indexOf("\n", start);
  const at = lineEnd < 0 || lineEnd > start + STEP_CHARS ? start : lineEnd + 1;
  return findOpenFence(markdown.slice(0, at)) + markdown.slice(at);
}

/**
 * The line that opens the code in which the text ends, with its line feed; empty if it does not end in code.
 */
export function findOpenFence(text: string): string {
  let open: { line: string; fence: string } | undefined;
  for (const [line, fence = "", info = ""] of text.matchAll(TAIL_FENCE)) {
    const isEnd = open !== undefined && fence.startsWith(open.fence) && info.trim() === "";
    if (open === undefined) open = { line, fence };
    else if (isEnd) open = undefined;
  }
  return open === undefined ? "" : `${open.line}\n`;
}

const TAIL_FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;

/**
 * The text of some rows that does not depend on their width, to find a position again in other rows: without
 * blanks and the lines of quotes and tables.
 */
export function shownText(rows: readonly string[]): string {
  return Bun.stripANSI(rows.join("")).replace(/[\s\u2500-\u257f…]+/gu, "");
}

/**
 * The index of the first row with text after this many characters of `shownText`; the number of rows if there
 * is none.
 */
export function findRowBehind(rows: readonly string[], written: number): number {
  let left = written;
  for (const [at, row] of rows.entries()) {
    if (left <= 0) return at;
    left -= shownText([row]).length;
    if (left < 0) return at;
  }
  return rows.length;
}
