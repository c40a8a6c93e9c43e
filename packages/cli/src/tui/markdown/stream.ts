import type { Token } from "marked";
import { visibleWidth } from "../screen/screen-text.ts";
import { isDeeplyNested } from "./layout.ts";
import { loadedMarkdown, prepareMarkdown } from "./render.ts";
import { isClosedFence, toMarkedToken } from "./syntax.ts";

/**
 * Divides the Markdown of an answer that is still coming into whole blocks that nothing can change any more and the open
 * rest; together they are the text. Rendered one by one, the finished parts and the last rest give the same lines as the
 * whole. Only complete lines are looked at, so it is of use when a line has ended. Nothing is finished before
 * `loadMarkdown` is done.
 */
export function cutFinished(markdown: string): { finished: string; rest: string } {
  const at = findCut(markdown);
  return { finished: markdown.slice(0, at), rest: markdown.slice(at) };
}

function findCut(markdown: string): number {
  const libraries = loadedMarkdown();
  // Read as it will be rendered. That keeps every line feed, so a place is found again by its line.
  const lines = prepareMarkdown(markdown.slice(0, markdown.lastIndexOf("\n") + 1));
  if (!libraries || !mayHoldEnd(lines) || isDeeplyNested(lines)) return 0;
  const finished = readFinished(lines, libraries.syntax.readBlocks);
  // A part that marked gave back altered, or that ends within a line, tells no place.
  if (!finished.endsWith("\n") || finished.trim() === "" || !lines.startsWith(finished)) return 0;
  return findLine(markdown, finished.split("\n").length - 1);
}

function readFinished(lines: string, readBlocks: ReadBlocks): string {
  try {
    const tokens = readBlocks(lines);
    let count = countFinished(tokens);
    // What follows a block can make marked divide it differently; then it cannot be shown without.
    while (count > 0 && !standAlone(tokens.slice(0, count), readBlocks)) count -= 1;
    return joinRaw(tokens.slice(0, count));
  } catch {
    // What marked cannot read is shown as plain text, all of it when the answer is complete.
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
 * All blocks but the last, and that one too where it cannot go on. A paragraph right above an open block stays with it: a
 * line of `=` can still make a heading of both.
 */
function countFinished(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const token = tokens[last];
  if (!token) return 0;
  if (isOver(token, tokens[last + 1])) return tokens.length;
  return tokens[last - 1]?.type === "paragraph" ? last - 1 : last;
}

/** Lists, indented code and HTML may go on after blank lines. */
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
 * False where the block at the beginning surely goes on to the end, told from its lines alone: a long code block or list
 * would else be read anew with each of its lines. Where it is wrong in the other direction, no more than time is lost.
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

/** A line that is blank or looks like the start of something else than a paragraph. */
const START_OR_BLANK = /^[ \t]*\n|^ {0,3}(?:[#>`~|<*+_=-]|\d{1,9}[.)])/m;

/** A line that is neither blank nor indented and begins no item. */
const NO_ITEM = /^ ?(?!(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))\S/m;

/** The place where line number `count` begins, counted from 0. */
function findLine(text: string, count: number): number {
  let at = 0;
  for (let line = 0; line < count; line++) at = text.indexOf("\n", at) + 1;
  return at;
}

// Up to so many rows a paragraph stays as it is; of a longer one the last are kept, since the next words change them.
const MOST_ROWS = 8;
const KEPT_ROWS = 3;
// On a wide screen it is fewer rows: when the window becomes narrow, whatever of them the terminal pushes out of the screen
// can be erased no more, and would stand above its repetition for good.
const MOST_CHARS = 400;

/** Lines of a paragraph and of nothing else; none is blank. */
const PLAIN_LINES = /^(?:(?! {0,3}\d{1,9}[.)][ \t])(?: {0,3}[\p{L}\p{N}`"'(*_][^\n|]*)(?:\n|$))+$/u;
/** What may still pair with something that follows. */
const MARKS = ["`", "*", "_", "~"];

/**
 * Where the first rows of a long paragraph that is still coming can be divided from the rest, at a word: both render as they
 * do together. `rows` are those in front of the place. Undefined where it is short, or not surely divided there.
 */
export function cutParagraph(
  markdown: string,
  render: (markdown: string) => string[],
): { at: number; rows: string[] } | undefined {
  if (!PLAIN_LINES.test(markdown)) return undefined;
  const all = render(markdown);
  const mostRows = Math.min(
    MOST_ROWS,
    Math.max(2, Math.floor(MOST_CHARS / Math.max(...all.map(visibleWidth)))),
  );
  if (all.length <= mostRows) return undefined;
  const keptRows = Math.min(KEPT_ROWS, mostRows >> 1);
  const rows = all.slice(0, -keptRows);
  const at = findWordBehind(markdown, shownText(rows).length, render);
  const [head, rest] = [markdown.slice(0, at), markdown.slice(at)];
  if (!isBalanced(head) || !PLAIN_LINES.test(rest)) return undefined;
  const isSame = isEqual(render(head), rows) && isEqual(render(rest), all.slice(-keptRows));
  return isSame ? { at, rows } : undefined;
}

/** The first word in front of which so much is shown. */
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

// Behind backticks that begin a fence there are none in the same line.
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const INNER_FENCE = /^\s*(`{3,}(?!.*`)|~{3,})/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** What an item has to look like so that a list may begin with it, at the start and below a paragraph. */
const FIRST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/;
const INTERRUPTING_ITEM = /^ {0,3}(?:[-*+]|1[.)])[ \t]/;
const PARAGRAPH = /^ {0,3}[\p{L}\p{N}*_`"'(]/u;

/**
 * In the open end of an answer the place in front of which nothing changes any more, whatever follows: behind a line of
 * code whose fence is still open, or in front of an item of a list. 0 where there is none; it is the beginning of a line.
 */
export function findStableEnd(markdown: string): number {
  const reader = new LineReader();
  let end = 0;
  for (let at = 0; ; ) {
    const lineEnd = markdown.indexOf("\n", at);
    // An item counts once something of it is there.
    const line = markdown.slice(at, lineEnd < 0 ? undefined : lineEnd);
    const stable = reader.read(line);
    if (stable === "before") end = at;
    if (lineEnd < 0) return end;
    at = lineEnd + 1;
    if (stable === "after") end = at;
  }
}

/** Knows which block the lines are in, as far as it matters. */
class LineReader {
  private block: "none" | "paragraph" | "code" | "list" | "other" = "none";
  /** Of the code that is open. */
  private fence = "";

  /** Whether what stands before this line, or this line too, is stable. */
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

// A large screen shows ten thousand characters; what is above them is not laid out anew with every frame.
const MAX_CHARS = 16_000;
const SHOWN_CHARS = 12_000;
// So that lines are not broken elsewhere with every word that comes.
const STEP_CHARS = 2_000;

/** Of the open end of an answer as much as a screen can show, beginning with a line where there is one. */
export function liveTail(markdown: string): string {
  if (markdown.length <= MAX_CHARS) return markdown;
  const start = Math.floor((markdown.length - SHOWN_CHARS) / STEP_CHARS) * STEP_CHARS;
  const lineEnd = markdown.indexOf("\n", start);
  const at = lineEnd < 0 || lineEnd > start + STEP_CHARS ? start : lineEnd + 1;
  return findOpenFence(markdown.slice(0, at)) + markdown.slice(at);
}

/** The line that begins the code which the text ends in, with its line feed; empty where it ends in none. */
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
 * What is shown in some rows whatever their width, so that a place in a text is found again in other rows: neither blanks
 * nor the lines of quotes and tables.
 */
export function shownText(rows: readonly string[]): string {
  return Bun.stripANSI(rows.join("")).replace(/[\s\u2500-\u257f…]+/gu, "");
}

/** The index of the first row that holds anything behind so many characters of `shownText`; their count where none does. */
export function findRowBehind(rows: readonly string[], written: number): number {
  let left = written;
  for (const [at, row] of rows.entries()) {
    if (left <= 0) return at;
    left -= shownText([row]).length;
    if (left < 0) return at;
  }
  return rows.length;
}
