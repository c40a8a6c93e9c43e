import { LineStyle } from "./line-style.ts";
import { cutToken, readTokens } from "./line-tokens.ts";
import { EMPTY_LINE, type ScreenLine } from "./screen-line.ts";
import { isWidthSettled } from "./text-width.ts";

/** What turns a line on the screen into another one. */
export interface LineChange {
  /** The column to write from. */
  readonly column: number;
  readonly text: string;
  /** What the earlier line had from there on has to be erased before. */
  readonly erasesRest: boolean;
  /** Where the cursor is afterwards; undefined where terminals disagree. */
  readonly columnAfter: number | undefined;
}

/** An equal end is left alone if it is longer than the sequences that may be needed in its place. */
const WORTH_LEAVING = 8;

/** How to change `shown` into `wanted`: what both begin and end with stays, where every terminal agrees on its columns. */
export function changeLine(shown: ScreenLine, wanted: ScreenLine): LineChange {
  const isSettled = shown.isSettled && wanted.isSettled;
  const erasesRest = shown !== EMPTY_LINE && (!isSettled || wanted.columns < shown.columns);
  const columnAfter = wanted.isSettled ? wanted.columns : undefined;
  const whole = { column: 0, text: wanted.text, erasesRest, columnAfter };
  const common = countCommon(shown.text, wanted.text);
  // The character after it must not join with the one before, on neither side.
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

/** The change without the equal end of both lines, where that begins in the same column and the same style. */
function leaveEnd(shown: ScreenLine, wanted: ScreenLine, start: LinePlace): LineChange | undefined {
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

interface LinePlace {
  /** In the text: the one that was asked for, or the beginning of the sequence or character it is within. */
  readonly index: number;
  readonly column: number;
  readonly style: LineStyle;
}

function readUpTo(text: string, limit: number): LinePlace {
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
