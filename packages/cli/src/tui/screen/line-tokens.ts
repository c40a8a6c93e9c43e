import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { isPrintableAscii, TAB_COLUMNS, visibleWidth } from "./text-width.ts";

/** A piece of a line that may be shown. */
export type LineToken =
  /** Printable ASCII, which can be divided anywhere. */
  | { kind: "ascii"; text: string; columns: number }
  /** What a person sees as one character. */
  | { kind: "grapheme"; text: string; columns: number }
  /** An SGR or OSC 8 sequence. */
  | { kind: "style"; text: string; columns: 0 }
  /** The cursor belongs here. */
  | { kind: "cursor"; text: string; columns: 0 };

const ESCAPE = "\\x1b";
const STRING_END = `(?:\\x07|${ESCAPE}\\\\)`;
const PIECE = new RegExp(
  [
    CURSOR_MARKER,
    `(?<style>${ESCAPE}\\[[\\d;:]*m|${ESCAPE}\\]8;\\P{Cc}*${STRING_END})`,
    "(?<text>\\P{Cc}+)",
    "(?<blank>[\\t\\n\\r])",
    // Whatever else begins with an escape is left out as a whole, and so is any other control character.
    `${ESCAPE}\\[[0-?]*[ -\\/]*[@-~]`,
    `${ESCAPE}[\\]PX^_]\\P{Cc}*${STRING_END}?`,
    "\\p{Cc}",
  ].join("|"),
  "gu",
);

const segmenter = new Intl.Segmenter();

/**
 * The pieces of a line, in order, read as they are asked for. Of escape sequences only styles, links and pi-tui's mark of the cursor pass; no other
 * sequence and no control character does, even where somebody forgot to sanitise. Tabs and line ends become spaces.
 */
export function* readTokens(line: string): Generator<LineToken> {
  for (const { 0: piece, groups = {} } of line.matchAll(PIECE)) {
    if (groups.text !== undefined) yield* segmentText(piece);
    else if (groups.style !== undefined) yield { kind: "style", text: piece, columns: 0 };
    else if (groups.blank !== undefined) yield toSpaces(piece);
    else if (piece === CURSOR_MARKER) yield { kind: "cursor", text: piece, columns: 0 };
  }
}

/** The part of a token that fits into `columns`, nothing where its first character does not. */
export function cutToken(token: LineToken, columns: number): LineToken | undefined {
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
