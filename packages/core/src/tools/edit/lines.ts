/** A line ending: LF, CRLF, or the lone CR of old Mac files. */
export type LineEnd = "\n" | "\r\n" | "\r";

/** A line with its line ending, so that it can be restored unchanged. */
export interface TextLine {
  text: string;
  /** As it is in the file; empty for a last line without one. */
  end: LineEnd | "";
}

/** The lines of a text with their endings: joined again they are the text. An empty text has none. */
function splitLines(text: string): TextLine[] {
  return Array.from(text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g), ([, line = "", end = ""]) => ({
    text: line,
    end: toLineEnd(end),
  })).filter(({ text: line, end }) => line !== "" || end !== "");
}

function toLineEnd(end: string): LineEnd | "" {
  return end === "\n" || end === "\r\n" || end === "\r" ? end : "";
}

/** The line endings of a text. */
interface LineEndUse {
  /** The most frequent ending; LF for a text of one line. */
  main: LineEnd;
  isMixed: boolean;
}

/** Among equally frequent endings LF comes first, then CRLF. */
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

/** The text with LF as every line ending. */
export function toLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** The text with `end` in place of every LF; it must not contain other line endings. */
export function fromLineFeeds(text: string, end: LineEnd): string {
  return end === "\n" ? text : text.replaceAll("\n", () => end);
}

/** Counts lines as editors do: an ending at the very end starts no further line, and an empty text has none. */
export function countLines(text: string): number {
  const ends = text.match(/\r\n|\n|\r/g)?.length ?? 0;
  return ends + (text === "" || /[\r\n]$/.test(text) ? 0 : 1);
}

/** A range of a text in which every line ending is LF. `end` is exclusive. */
export interface TextRange {
  start: number;
  end: number;
}

/** The offsets of the lines of a file, in its own text and in the same text with LF endings. */
export interface LineMap {
  /** The last one has no ending; it is empty when the text ends with a line ending. */
  lines: readonly TextLine[];
  starts: readonly number[];
  startsInFile: readonly number[];
}

/** `text` is the file's own text. */
export function createLineMap(text: string): LineMap {
  const lines = splitLines(text);
  if (lines.at(-1)?.end !== "") lines.push({ text: "", end: "" });
  const starts: number[] = [];
  const startsInFile: number[] = [];
  let [start, startInFile] = [0, 0];
  for (const line of lines) {
    starts.push(start);
    startsInFile.push(startInFile);
    start += line.text.length + 1;
    startInFile += line.text.length + line.end.length;
  }
  return { lines, starts, startsInFile };
}

/** A range in the file's own text: half-open, in UTF-16 units. */
interface MappedLocation {
  /** The part of each line within the range; a line ending is included completely, even that of the last line. */
  fragments: TextLine[];
  startInFile: number;
  endInFile: number;
}

/** Converts a range in the text with LF endings into one in the file's own text. */
export function mapLocation(
  { lines, starts, startsInFile }: LineMap,
  { start, end }: TextRange,
): MappedLocation {
  const first = lineIndexAt(starts, start);
  const last = lineIndexAt(starts, end);
  const startColumn = start - (starts[first] ?? 0);
  const endColumn = end - (starts[last] ?? 0);
  const fragments = lines.slice(first, last + 1).map((line, index) => ({
    text: line.text.slice(index === 0 ? startColumn : 0, first + index === last ? endColumn : undefined),
    end: line.end,
  }));
  return {
    fragments,
    startInFile: (startsInFile[first] ?? 0) + startColumn,
    endInFile: (startsInFile[last] ?? 0) + endColumn,
  };
}

/** The index of the line in which `position` lies; `starts` is ascending. */
function lineIndexAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A line of the old text, of the new one, or of both if one became the other. Indices from 0. */
interface LinePair {
  oldIndex?: number;
  newIndex?: number;
}

// The table below has one cell for each pair of lines.
const MAX_CELLS = 250_000;

/**
 * Matches new lines with the old lines they come from: equal lines first (a longest common subsequence), and the lines
 * between those in order. Every line of both sides occurs once, in order.
 */
export function alignLines(oldLines: readonly string[], newLines: readonly string[]): LinePair[] {
  const pairs: LinePair[] = [];
  let [oldStart, newStart] = [0, 0];
  for (const [oldIndex, newIndex] of [
    ...findEqualLines(oldLines, newLines),
    [oldLines.length, newLines.length],
  ]) {
    if (oldIndex === undefined || newIndex === undefined) continue;
    pairs.push(...pairInOrder({ oldStart, oldEnd: oldIndex, newStart, newEnd: newIndex }));
    if (oldIndex < oldLines.length) pairs.push({ oldIndex, newIndex });
    [oldStart, newStart] = [oldIndex + 1, newIndex + 1];
  }
  return pairs;
}

interface Gap {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

function pairInOrder({ oldStart, oldEnd, newStart, newEnd }: Gap): LinePair[] {
  const count = Math.max(oldEnd - oldStart, newEnd - newStart);
  return Array.from({ length: count }, (_, index) => ({
    ...(oldStart + index < oldEnd && { oldIndex: oldStart + index }),
    ...(newStart + index < newEnd && { newIndex: newStart + index }),
  }));
}

function findEqualLines(oldLines: readonly string[], newLines: readonly string[]): [number, number][] {
  const width = newLines.length + 1;
  if (oldLines.length * newLines.length > MAX_CELLS) return [];
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const at = (oldIndex: number, newIndex: number) => lengths[oldIndex * width + newIndex] ?? 0;
  for (let oldIndex = oldLines.length - 1; oldIndex >= 0; oldIndex--) {
    for (let newIndex = newLines.length - 1; newIndex >= 0; newIndex--) {
      lengths[oldIndex * width + newIndex] =
        oldLines[oldIndex] === newLines[newIndex]
          ? at(oldIndex + 1, newIndex + 1) + 1
          : Math.max(at(oldIndex + 1, newIndex), at(oldIndex, newIndex + 1));
    }
  }
  const equal: [number, number][] = [];
  for (let [oldIndex, newIndex] = [0, 0]; oldIndex < oldLines.length && newIndex < newLines.length; ) {
    if (oldLines[oldIndex] === newLines[newIndex]) equal.push([oldIndex++, newIndex++]);
    else if (at(oldIndex + 1, newIndex) >= at(oldIndex, newIndex + 1)) oldIndex++;
    else newIndex++;
  }
  return equal;
}

// Typographic characters that editors and models use in place of plain ones. Each is one UTF-16 unit and replaces one.
const PLAIN: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
];

/** Replaces typographic quotes, dashes and spaces by plain ones; positions do not change. */
export function toPlainPunctuation(text: string): string {
  return PLAIN.reduce((plain, [pattern, replacement]) => plain.replace(pattern, replacement), text);
}

/** The three parts of a line; joined in this order they are the line. */
interface LineParts {
  indent: string;
  body: string;
  tail: string;
}

/** Splits a line into its indentation, its text and its trailing white space. A blank line is all indentation. */
export function splitLineParts(line: string): LineParts {
  const body = line.trim();
  const indent = line.slice(0, line.length - line.trimStart().length);
  return { indent, body, tail: line.slice(indent.length + body.length) };
}

/** Converts the model's indentation into the file's; undefined if that would be a guess. */
export type Reindent = (indent: string) => string | undefined;

/** The indentation of one line: the model's, and the file's. */
interface IndentPair {
  given: string;
  inFile: string;
}

/**
 * The rule that converts the model's indentation into the file's, derived from the lines that match. Undefined when no
 * single rule fits all of them.
 */
export function deriveReindent(pairs: readonly IndentPair[]): Reindent | undefined {
  if (pairs.every(({ given, inFile }) => given === inFile)) return (indent) => indent;
  return deriveOffset(pairs) ?? deriveTabs(pairs);
}

/** The same white space before every line, either in the file or in the model's text. */
function deriveOffset(pairs: readonly IndentPair[]): Reindent | undefined {
  const [first] = pairs;
  if (!first) return undefined;
  const isDeeper = first.inFile.length > first.given.length;
  const [longer, shorter] = isDeeper ? [first.inFile, first.given] : [first.given, first.inFile];
  if (!longer.endsWith(shorter)) return undefined;
  const prefix = longer.slice(0, longer.length - shorter.length);
  const apply = isDeeper
    ? (indent: string) => prefix + indent
    : (indent: string) => (indent.startsWith(prefix) ? indent.slice(prefix.length) : undefined);
  if (!pairs.every(({ given, inFile }) => apply(given) === inFile)) return undefined;
  // A single depth could also mean that the file's steps are wider: then only that depth can be converted.
  const isProven = shorter === "" || pairs.some(({ given }) => given !== first.given);
  return isProven ? apply : (indent) => (indent === first.given ? first.inFile : undefined);
}

/** Tabs in the file in place of a fixed number of spaces, or vice versa. */
function deriveTabs(pairs: readonly IndentPair[]): Reindent | undefined {
  const indented = pairs.find(({ given, inFile }) => given !== "" && inFile !== "");
  if (!indented) return undefined;
  const { given, inFile } = indented;
  const [tabs, spaces] = isAll("\t", inFile) ? [inFile, given] : [given, inFile];
  const width = spaces.length / tabs.length;
  if (!isAll("\t", tabs) || !isAll(" ", spaces) || !Number.isInteger(width) || width < 2) return undefined;
  const apply: Reindent =
    tabs === inFile
      ? (indent) =>
          isAll(" ", indent) && indent.length % width === 0 ? "\t".repeat(indent.length / width) : undefined
      : (indent) => (isAll("\t", indent) ? " ".repeat(indent.length * width) : undefined);
  return pairs.every((pair) => apply(pair.given) === pair.inFile) ? apply : undefined;
}

function isAll(character: string, text: string): boolean {
  return text === character.repeat(text.length);
}
