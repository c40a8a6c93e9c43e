import type { Token } from "marked";
import { loadedMarkdown } from "./load-markdown.ts";
import { isClosedFence, toMarkedToken } from "./markdown-syntax.ts";
import { isDeeplyNested } from "./nesting.ts";
import { prepareMarkdown } from "./prepare-markdown.ts";

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
