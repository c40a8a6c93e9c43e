/** What ends a line: LF, CRLF, or the lone CR of old Mac files. */
export type LineEnd = "\n" | "\r\n" | "\r";

/** A line with what ends it, so that it can be put back as it was. */
export interface TextLine {
  text: string;
  /** As it is in the file; empty for a last line without one. */
  end: LineEnd | "";
}

/** The lines of a text with their ends: joined again they are the text. An empty text has none. */
export function splitLines(text: string): TextLine[] {
  return Array.from(text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g), ([, line = "", end = ""]) => ({
    text: line,
    end: toLineEnd(end),
  })).filter(({ text: line, end }) => line !== "" || end !== "");
}

function toLineEnd(end: string): LineEnd | "" {
  return end === "\n" || end === "\r\n" || end === "\r" ? end : "";
}

/** Which ends the lines of a text have. */
export interface LineEndUse {
  /** The most frequent end; LF for a text of one line. */
  main: LineEnd;
  isMixed: boolean;
}

/** Of ends that are equally frequent LF comes first, then CRLF. */
export function findLineEnds(text: string): LineEndUse {
  if (!text.includes("\r")) return { main: "\n", isMixed: false };
  const counts = { "\r\n": 0, "\n": 0, "\r": 0 };
  for (const [end] of text.matchAll(/\r\n|\n|\r/g)) {
    const known = toLineEnd(end);
    if (known !== "") counts[known]++;
  }
  const used = (["\n", "\r\n", "\r"] as const).filter((end) => counts[end] > 0);
  const main = used.reduce((best, end) => (counts[end] > counts[best] ? end : best), used[0] ?? "\n");
  return { main, isMixed: used.length > 1 };
}

/** The text with every line end as LF. */
export function toLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** The text with every LF as `end`; it must hold no other line ends. */
export function fromLineFeeds(text: string, end: LineEnd): string {
  return end === "\n" ? text : text.replaceAll("\n", () => end);
}

/** Lines as people count them: an end at the very end begins no further one, and an empty text has none. */
export function countLines(text: string): number {
  const ends = text.match(/\r\n|\n|\r/g)?.length ?? 0;
  return ends + (text === "" || /[\r\n]$/.test(text) ? 0 : 1);
}
