import {
  alignLines,
  createLineMap,
  deriveReindent,
  findLineEnds,
  fromLineFeeds,
  type LineEnd,
  type LineMap,
  mapLocation,
  type Reindent,
  splitLineParts,
  type TextLine,
  type TextRange,
  toLineFeeds,
  toPlainPunctuation,
} from "./lines.ts";

/** The text to replace and its replacement. `replaceAll` allows more than one match. */
export interface EditRequest {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

/** The outcome of an edit: `text` is the whole new text, `count` the number of replacements. */
export type EditOutcome =
  /** `firstLine` is 1-based; `isExact` is false when only a loose match was found. */
  | { kind: "edited"; text: string; count: number; firstLine: number; isExact: boolean }
  /** Several positions match. `lines` are those of the first few. */
  | { kind: "ambiguous"; count: number; lines: number[]; isExact: boolean }
  | { kind: "missing" };

const MAX_NAMED_LINES = 10;

/**
 * Replaces a piece of a text. Line endings are ignored when searching: LF in `oldText` matches any of the file's
 * endings, and the lines keep their endings. An `oldText` that contains CR is first matched exactly, and the new text
 * is then inserted unchanged.
 */
export function planEdit(text: string, request: EditRequest): EditOutcome {
  if (request.oldText.includes("\r")) {
    const ranges = findLocations(text, request);
    if (ranges.length > 0) {
      return finish({ text, ranges, request, isExact: true }, () =>
        splice(text, ranges, () => request.newText),
      );
    }
  }
  const wanted = { ...request, oldText: toLineFeeds(request.oldText), newText: adaptNewText(text, request) };
  const view = toLineFeeds(text);
  const ranges = findLocations(view, wanted);
  const isExact = wanted.oldText === request.oldText;
  if (ranges.length === 0) return planLooseEdit(text, view, wanted);
  return finish({ text: view, ranges, request, isExact }, () => replaceExact({ text, view, ranges }, wanted));
}

/**
 * Converts CRLF in the new text into the file's line ending, unless all lines of the file end in LF: then it is kept.
 */
function adaptNewText(text: string, { oldText, newText }: EditRequest): string {
  return text.includes("\r") || oldText.includes("\r") ? newText.replaceAll("\r\n", "\n") : newText;
}

/** All matches in order; overlapping matches are both returned when only one match is allowed. */
function findLocations(text: string, { oldText, replaceAll }: EditRequest): TextRange[] {
  const ranges: TextRange[] = [];
  for (let at = text.indexOf(oldText); at !== -1; ) {
    ranges.push({ start: at, end: at + oldText.length });
    const isSecondOverlap = !replaceAll && ranges.length === 1;
    at = text.indexOf(oldText, isSecondOverlap ? at + 1 : at + oldText.length);
  }
  return ranges;
}

interface Found {
  /** The text that contains the matches. */
  text: string;
  ranges: readonly TextRange[];
  request: EditRequest;
  isExact: boolean;
}

function finish({ text, ranges, request, isExact }: Found, replace: () => string | undefined): EditOutcome {
  if (ranges.length > 1 && !request.replaceAll)
    return { kind: "ambiguous", ...describeLocations(text, ranges), isExact };
  const [firstLine = 1] = describeLocations(text, ranges.slice(0, 1)).lines;
  const edited = replace();
  if (edited === undefined) return { kind: "missing" };
  return { kind: "edited", text: edited, count: ranges.length, firstLine, isExact };
}

function describeLocations(text: string, ranges: readonly TextRange[]): { count: number; lines: number[] } {
  const lines: number[] = [];
  let [line, position] = [1, 0];
  for (const { start } of ranges.slice(0, MAX_NAMED_LINES)) {
    line += text.slice(position, start).split(/\r\n|\n|\r/).length - 1;
    position = start;
    lines.push(line);
  }
  return { count: ranges.length, lines };
}

function splice(
  text: string,
  ranges: readonly TextRange[],
  replacement: (range: TextRange) => string,
): string {
  const pieces: string[] = [];
  let position = 0;
  for (const range of ranges) {
    pieces.push(text.slice(position, range.start), replacement(range));
    position = range.end;
  }
  return pieces.join("") + text.slice(position);
}

interface Viewed {
  text: string;
  /** The text with LF endings. */
  view: string;
  ranges: readonly TextRange[];
}

function replaceExact({ text, view, ranges }: Viewed, { oldText, newText }: EditRequest): string | undefined {
  const { main, isMixed } = findLineEnds(text);
  if (!isMixed)
    return fromLineFeeds(
      splice(view, ranges, () => newText),
      main,
    );
  const map = createLineMap(text);
  const lines = {
    oldLines: oldText.split("\n"),
    newLines: newText.split("\n"),
    reindent: (indent: string) => indent,
  };
  return spliceMapped(text, { map, ranges, lines, main });
}

/** The text with every range replaced line by line; undefined when the indentation of a line would be a guess. */
export function spliceMapped(
  text: string,
  {
    map,
    ranges,
    lines,
    main,
  }: {
    map: LineMap;
    ranges: readonly TextRange[];
    lines: Pick<LineSplice, "oldLines" | "newLines" | "reindent">;
    main: LineEnd;
  },
): string | undefined {
  const pieces: string[] = [];
  let position = 0;
  for (const range of ranges) {
    const { fragments, startInFile, endInFile } = mapLocation(map, range);
    const replacement = spliceLines({ ...lines, fragments, fallbackEnd: main });
    if (replacement === undefined) return undefined;
    pieces.push(text.slice(position, startInFile), replacement);
    position = endInFile;
  }
  return pieces.join("") + text.slice(position);
}

function planLooseEdit(text: string, view: string, request: EditRequest): EditOutcome {
  const map = createLineMap(text);
  const ranges = findLooseLocations(view, map, request.oldText);
  const [range] = ranges;
  if (!range) return { kind: "missing" };
  // Only one loose match is ever changed.
  const found = { text: view, ranges, request: { ...request, replaceAll: false }, isExact: false };
  return finish(found, () => replaceLoosely(text, { map, range }, request));
}

function replaceLoosely(
  text: string,
  { map, range }: { map: LineMap; range: LooseLocation },
  { oldText, newText }: EditRequest,
): string | undefined {
  if (!range.reindent) return undefined;
  const oldLines = oldText.split("\n");
  const newLines = newText.split("\n");
  // If the file lacks the last line ending of the texts, it is not part of the change.
  if (mapLocation(map, range).fragments.length < oldLines.length) {
    oldLines.pop();
    if (newLines.length > 1 && newLines.at(-1) === "") newLines.pop();
  }
  const lines = { oldLines, newLines, reindent: range.reindent };
  return spliceMapped(text, { map, ranges: [range], lines, main: findLineEnds(text).main });
}

/** An edit whose old text matches the file except for white space and typography. */
interface LineSplice {
  /** The matching lines of the file: as many as `oldLines`, equal except for white space and typography. */
  fragments: readonly TextLine[];
  oldLines: readonly string[];
  newLines: readonly string[];
  reindent: Reindent;
  /** For lines without a neighbor whose line ending they could take. */
  fallbackEnd: LineEnd;
}

/**
 * The text that replaces the fragments, without the ending of its last line, which is not part of the change. Unchanged
 * lines keep the file's characters, changed ones keep their ending, added ones take that of the line above. Undefined
 * when the indentation of a line would be a guess.
 */
function spliceLines({
  fragments,
  oldLines,
  newLines,
  reindent,
  fallbackEnd,
}: LineSplice): string | undefined {
  const result: { text: string; end: LineEnd | "" }[] = [];
  for (const { oldIndex, newIndex } of alignLines(oldLines, newLines)) {
    if (newIndex === undefined) continue;
    const newLine = newLines[newIndex] ?? "";
    const fragment = oldIndex === undefined ? undefined : fragments[oldIndex];
    const text = fragment
      ? mergeLine({ inFile: fragment.text, given: oldLines[oldIndex ?? 0] ?? "", wanted: newLine }, reindent)
      : indentLine(newLine, reindent);
    if (text === undefined) return undefined;
    const end = fragment?.end || result.at(-1)?.end || fragments[0]?.end || fallbackEnd;
    result.push({ text, end });
  }
  return result.map(({ text, end }, index) => (index === result.length - 1 ? text : text + end)).join("");
}

function indentLine(line: string, reindent: Reindent): string | undefined {
  const { indent, body, tail } = splitLineParts(line);
  if (body === "") return line;
  const adapted = reindent(indent);
  return adapted === undefined ? undefined : adapted + body + tail;
}

interface LineChange {
  inFile: string;
  given: string;
  wanted: string;
}

/**
 * Where the wanted line equals the given one, the file's own characters are kept: its indentation, quotes, trailing
 * space.
 */
function mergeLine({ inFile, given, wanted }: LineChange, reindent: Reindent): string | undefined {
  if (given === wanted) return inFile;
  const [file, old, next] = [splitLineParts(inFile), splitLineParts(given), splitLineParts(wanted)];
  if (next.body === "") return wanted;
  const indent = next.indent === old.indent && old.body !== "" ? file.indent : reindent(next.indent);
  if (indent === undefined) return undefined;
  return (
    indent + mergeBody(file.body, old.body, next.body) + (next.tail === old.tail ? file.tail : next.tail)
  );
}

function mergeBody(file: string, old: string, next: string): string {
  if (file === old || file.length !== old.length) return next;
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  return file.slice(0, start) + next.slice(start, next.length - end) + file.slice(file.length - end);
}

// With more than these the search would take seconds; then there is no loose match.
const MAX_CHARS = 8 * 1024 * 1024;
const MAX_COMPARISONS = 5_000_000;
const MAX_MATCHES = 20;

/** A match that differs only in typography, or in white space around lines. */
interface LooseLocation extends TextRange {
  /** Undefined when the indentation follows no single rule. */
  reindent: Reindent | undefined;
}

/**
 * Matches that differ from `wanted` only in quotes, dashes and kinds of space, or whole lines that also differ in
 * trailing white space and indentation. `text` has LF endings, `map` is its map. In order, without duplicates.
 */
function findLooseLocations(text: string, map: LineMap, wanted: string): LooseLocation[] {
  if (text.length > MAX_CHARS || wanted.trim() === "") return [];
  const alike = findPlainLocations(toPlainPunctuation(text), toPlainPunctuation(wanted));
  const lines = findLineRuns(text, map, wanted).filter((run) => !alike.some((range) => overlaps(range, run)));
  return [...alike, ...lines].sort((left, right) => left.start - right.start);
}

function overlaps(left: TextRange, right: TextRange): boolean {
  return left.start < right.end && right.start < left.end;
}

function findPlainLocations(text: string, wanted: string): LooseLocation[] {
  const ranges: LooseLocation[] = [];
  for (
    let at = text.indexOf(wanted);
    at !== -1 && ranges.length < MAX_MATCHES;
    at = text.indexOf(wanted, at + 1)
  ) {
    ranges.push({ start: at, end: at + wanted.length, reindent: (indent) => indent });
  }
  return ranges;
}

function findLineRuns(text: string, map: LineMap, wanted: string): LooseLocation[] {
  const endsLine = wanted.endsWith("\n");
  const wantedLines = (endsLine ? wanted.slice(0, -1) : wanted).split("\n");
  const wantedKeys = wantedLines.map(lineKey);
  const anchor = wantedKeys.reduce(
    (best, key, index) => (key.length > (wantedKeys[best] ?? "").length ? index : best),
    0,
  );
  const keys = map.lines.map((line) => lineKey(line.text));
  const runs: LooseLocation[] = [];
  let comparisons = 0;
  for (
    let at = keys.indexOf(wantedKeys[anchor] ?? "");
    at !== -1;
    at = keys.indexOf(wantedKeys[anchor] ?? "", at + 1)
  ) {
    const first = at - anchor;
    if (first < 0 || first + wantedKeys.length > keys.length) continue;
    comparisons += wantedKeys.length;
    if (comparisons > MAX_COMPARISONS || runs.length >= MAX_MATCHES) return runs;
    if (!wantedKeys.every((key, index) => keys[first + index] === key)) continue;
    runs.push(toLocation(text, map, { first, wantedLines, endsLine }));
  }
  return runs;
}

function lineKey(line: string): string {
  return toPlainPunctuation(line).trim();
}

function toLocation(
  text: string,
  { lines, starts }: LineMap,
  { first, wantedLines, endsLine }: { first: number; wantedLines: readonly string[]; endsLine: boolean },
): LooseLocation {
  const last = first + wantedLines.length - 1;
  const lineEnd = (starts[last] ?? 0) + (lines[last]?.text.length ?? 0);
  const pairs = wantedLines.flatMap((line, index) => {
    const given = splitLineParts(line);
    const inFile = splitLineParts(lines[first + index]?.text ?? "");
    return given.body === "" ? [] : [{ given: given.indent, inFile: inFile.indent }];
  });
  return {
    start: starts[first] ?? 0,
    end: endsLine ? Math.min(lineEnd + 1, text.length) : lineEnd,
    reindent: deriveReindent(pairs),
  };
}
