import { sanitizeTerminalText } from "../../terminal-text.ts";

/**
 * Markdown from outside made safe, with the same line feeds, and without what marked reads in two ways: a line of blanks
 * other than spaces and tabs, which it sometimes takes for an empty one, and the marker of an item with a tab behind it,
 * which does not keep it from making a heading of the item when a line of `=` follows.
 */
export function prepareMarkdown(markdown: string): string {
  const safe = sanitizeTerminalText(markdown).replace(MARKER_WITH_TAB, expandMarker);
  if (!UNUSUAL_BLANK.test(safe)) return safe;
  return safe.split("\n").map(trimUnusualBlanks).join("\n");
}

const MARKER_WITH_TAB = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))\t/gm;

function expandMarker(_: string, marker: string): string {
  return marker + " ".repeat(4 - (marker.length % 4));
}

const UNUSUAL_BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

function trimUnusualBlanks(line: string): string {
  const kept = line.trimEnd();
  return UNUSUAL_BLANK.test(line.slice(kept.length)) ? kept : line;
}
