import {
  alignLines,
  createLineMap,
  deriveReindent,
  findLineEnds,
  fromLineFeeds,
  type LineEnd,
  type LineMap,
  mapLocation,
  type Place,
  type Reindent,
  splitLineParts,
  type TextLine,
  toLineFeeds,
  toPlainPunctuation,
} from "./lines.ts";

/** What is replaced by what. `replaceAll` allows more than one match. */
export interface EditRequest {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

/** The outcome of an edit: `text` is the whole new text, `count` the number of replacements. */
export type EditOutcome =
  /** `firstLine` is 1-based; `isExact` is false when only a loose match was found. */
  | { kind: "edited"; text: string; count: number; firstLine: number; isExact: boolean }
  /** Several places match. `lines` are those of the first few. */
  | { kind: "ambiguous"; count: number; lines: number[]; isExact: boolean }
  | { kind: "missing" };

const MAX_NAMED_LINES = 10;

/**
 * Replaces a piece of a text. Line ends make no difference for finding it: LF in `oldText` matches what the file
 * has, and the lines keep their ends. An `oldText` that contains CR is matched exactly first, and the new text is
 * then inserted as it is.
 */
export function planEdit(text: string, request: EditRequest): EditOutcome {
  if (request.oldText.includes("\r")) {
    const places = findLocations(text, request);
    if (places.length > 0) {
      return finish({ text, places, request, isExact: true }, () =>
        splice(text, places, () => request.newText),
      );
    }
  }
  const wanted = { ...request, oldText: toLineFeeds(request.oldText), newText: adaptNewText(text, request) };
  const view = toLineFeeds(text);
  const places = findLocations(view, wanted);
  const isExact = wanted.oldText === request.oldText;
  if (places.length === 0) return planLooseEdit(text, view, wanted);
  return finish({ text: view, places, request, isExact }, () => replaceExact({ text, view, places }, wanted));
}

/** CRLF in the new text means a line end, unless all lines of the file end in LF: then it is meant. */
function adaptNewText(text: string, { oldText, newText }: EditRequest): string {
  return text.includes("\r") || oldText.includes("\r") ? newText.replaceAll("\r\n", "\n") : newText;
}

/** All matches in order; two that overlap are both found when only one may match. */
function findLocations(text: string, { oldText, replaceAll }: EditRequest): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(oldText); at !== -1; ) {
    places.push({ start: at, end: at + oldText.length });
    const isSecondOverlap = !replaceAll && places.length === 1;
    at = text.indexOf(oldText, isSecondOverlap ? at + 1 : at + oldText.length);
  }
  return places;
}

interface Found {
  /** The text that contains the matches. */
  text: string;
  places: readonly Place[];
  request: EditRequest;
  isExact: boolean;
}

function finish({ text, places, request, isExact }: Found, replace: () => string | undefined): EditOutcome {
  if (places.length > 1 && !request.replaceAll)
    return { kind: "ambiguous", ...describeLocations(text, places), isExact };
  const [firstLine = 1] = describeLocations(text, places.slice(0, 1)).lines;
  const edited = replace();
  if (edited === undefined) return { kind: "missing" };
  return { kind: "edited", text: edited, count: places.length, firstLine, isExact };
}

function describeLocations(text: string, places: readonly Place[]): { count: number; lines: number[] } {
  const lines: number[] = [];
  let [line, position] = [1, 0];
  for (const { start } of places.slice(0, MAX_NAMED_LINES)) {
    line += text.slice(position, start).split(/\r\n|\n|\r/).length - 1;
    position = start;
    lines.push(line);
  }
  return { count: places.length, lines };
}

function splice(text: string, places: readonly Place[], replacement: (place: Place) => string): string {
  const pieces: string[] = [];
  let position = 0;
  for (const place of places) {
    pieces.push(text.slice(position, place.start), replacement(place));
    position = place.end;
  }
  return pieces.join("") + text.slice(position);
}

interface Viewed {
  text: string;
  /** The same with LF ends. */
  view: string;
  places: readonly Place[];
}

function replaceExact({ text, view, places }: Viewed, { oldText, newText }: EditRequest): string | undefined {
  const { main, isMixed } = findLineEnds(text);
  if (!isMixed)
    return fromLineFeeds(
      splice(view, places, () => newText),
      main,
    );
  const map = createLineMap(text);
  const lines = {
    oldLines: oldText.split("\n"),
    newLines: newText.split("\n"),
    reindent: (indent: string) => indent,
  };
  return spliceMapped(text, { map, places, lines, main });
}

function spliceMapped(
  text: string,
  {
    map,
    places,
    lines,
    main,
  }: {
    map: LineMap;
    places: readonly Place[];
    lines: Pick<LineSplice, "oldLines" | "newLines" | "reindent">;
    main: LineEnd;
  },
): string | undefined {
  const pieces: string[] = [];
  let position = 0;
  for (const place of places) {
    const { fragments, startInFile, endInFile } = mapLocation(map, place);
    const replacement = spliceLines({ ...lines, fragments, fallbackEnd: main });
    if (replacement === undefined) return undefined;
    pieces.push(text.slice(position, startInFile), replacement);
    position = endInFile;
  }
  return pieces.join("") + text.slice(position);
}

function planLooseEdit(text: string, view: string, request: EditRequest): EditOutcome {
  const map = createLineMap(text);
  const places = findLooseLocations(view, map, request.oldText);
  const [place] = places;
  if (!place) return { kind: "missing" };
  // Only one loose match is ever changed.
  const found = { text: view, places, request: { ...request, replaceAll: false }, isExact: false };
  return finish(found, () => replaceLoosely(text, { map, place }, request));
}

function replaceLoosely(
  text: string,
  { map, place }: { map: LineMap; place: LooseLocation },
  { oldText, newText }: EditRequest,
): string | undefined {
  if (!place.reindent) return undefined;
  const oldLines = oldText.split("\n");
  const newLines = newText.split("\n");
  // The file may lack the last line end that the texts have: it is not part of the change then.
  if (mapLocation(map, place).fragments.length < oldLines.length) {
    oldLines.pop();
    if (newLines.length > 1 && newLines.at(-1) === "") newLines.pop();
  }
  const lines = { oldLines, newLines, reindent: place.reindent };
  return spliceMapped(text, { map, places: [place], lines, main: findLineEnds(text).main });
}

/** An edit whose old text is in the file but for white space and typography. */
interface LineSplice {
  /** The matching lines of the file: as many as `oldLines`, equal except for white space and typography. */
  fragments: readonly TextLine[];
  oldLines: readonly string[];
  newLines: readonly string[];
  reindent: Reindent;
  /** For lines without a neighbour to take their line end from. */
  fallbackEnd: LineEnd;
}

/**
 * The text that takes the place of the fragments, without the end of its last line, which is not part of the change.
 * Unchanged lines keep the file's characters, changed ones keep their end, added ones take that of the line
 * above. Undefined when a line could be indented only by guessing.
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

/** Where the wanted line equals the given one, the file's own characters stay: its indentation, quotes, trailing space. */
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

// Beyond these the search would take seconds; then there is no loose match.
const MAX_CHARS = 8 * 1024 * 1024;
const MAX_COMPARISONS = 5_000_000;
const MAX_PLACES = 20;

/** A match that differs only in typography, or in white space around lines. */
interface LooseLocation extends Place {
  /** Undefined when the indentation follows no single rule. */
  reindent: Reindent | undefined;
}

/**
 * Matches that differ from `wanted` only in quotes, dashes and kinds of space, or whole lines that differ besides in
 * trailing white space and indentation. `text` has LF ends, `map` is the map of it. In order, without duplicates.
 */
function findLooseLocations(text: string, map: LineMap, wanted: string): LooseLocation[] {
  if (text.length > MAX_CHARS || wanted.trim() === "") return [];
  const alike = findPlainLocations(toPlainPunctuation(text), toPlainPunctuation(wanted));
  const lines = findLineRuns(text, map, wanted).filter((run) => !alike.some((place) => overlaps(place, run)));
  return [...alike, ...lines].sort((left, right) => left.start - right.start);
}

function overlaps(left: Place, right: Place): boolean {
  return left.start < right.end && right.start < left.end;
}

function findPlainLocations(text: string, wanted: string): LooseLocation[] {
  const places: LooseLocation[] = [];
  for (
    let at = text.indexOf(wanted);
    at !== -1 && places.length < MAX_PLACES;
    at = text.indexOf(wanted, at + 1)
  ) {
    places.push({ start: at, end: at + wanted.length, reindent: (indent) => indent });
  }
  return places;
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
    if (comparisons > MAX_COMPARISONS || runs.length >= MAX_PLACES) return runs;
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
