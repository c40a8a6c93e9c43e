import { findLineEnds, fromLineFeeds, type LineEnd, toLineFeeds } from "./line-ends.ts";
import { createLineMap, type LineMap, mapPlace, type Place } from "./line-map.ts";
import { type LineSplice, spliceLines } from "./line-splice.ts";
import { findLoosePlaces, type LoosePlace } from "./loose-match.ts";

/** What is replaced by what. `replaceAll` allows more than one place. */
export interface EditRequest {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

/** What an edit comes to: `text` is the whole new text, `count` the number of places. */
export type EditOutcome =
  /** `firstLine` is 1-based; `isExact` is false when only a loose match was found. */
  | { kind: "edited"; text: string; count: number; firstLine: number; isExact: boolean }
  /** Several places match. `lines` are those of the first few. */
  | { kind: "ambiguous"; count: number; lines: number[]; isExact: boolean }
  | { kind: "missing" };

const MAX_NAMED_LINES = 10;

/**
 * Replaces a piece of a text. Line ends make no difference for finding it: LF in `oldText` matches what the file has,
 * and the lines keep their ends. An `oldText` with CR in it is taken at its word first, and so is the new text then.
 */
export function planEdit(text: string, request: EditRequest): EditOutcome {
  if (request.oldText.includes("\r")) {
    const places = findPlaces(text, request);
    if (places.length > 0) {
      return finish({ text, places, request, isExact: true }, () =>
        splice(text, places, () => request.newText),
      );
    }
  }
  const wanted = { ...request, oldText: toLineFeeds(request.oldText), newText: adaptNewText(text, request) };
  const view = toLineFeeds(text);
  const places = findPlaces(view, wanted);
  const isExact = wanted.oldText === request.oldText;
  if (places.length === 0) return planLooseEdit(text, view, wanted);
  return finish({ text: view, places, request, isExact }, () => replaceExact({ text, view, places }, wanted));
}

/** CRLF in the new text means a line end, unless all lines of the file end in LF: then it is meant. */
function adaptNewText(text: string, { oldText, newText }: EditRequest): string {
  return text.includes("\r") || oldText.includes("\r") ? newText.replaceAll("\r\n", "\n") : newText;
}

/** All places one after the other; two that overlap are both found when only one may match. */
function findPlaces(text: string, { oldText, replaceAll }: EditRequest): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(oldText); at !== -1; ) {
    places.push({ start: at, end: at + oldText.length });
    const isSecondOverlap = !replaceAll && places.length === 1;
    at = text.indexOf(oldText, isSecondOverlap ? at + 1 : at + oldText.length);
  }
  return places;
}

interface Found {
  /** The text in which the places are. */
  text: string;
  places: readonly Place[];
  request: EditRequest;
  isExact: boolean;
}

function finish({ text, places, request, isExact }: Found, replace: () => string | undefined): EditOutcome {
  if (places.length > 1 && !request.replaceAll)
    return { kind: "ambiguous", ...describePlaces(text, places), isExact };
  const [firstLine = 1] = describePlaces(text, places.slice(0, 1)).lines;
  const edited = replace();
  if (edited === undefined) return { kind: "missing" };
  return { kind: "edited", text: edited, count: places.length, firstLine, isExact };
}

function describePlaces(text: string, places: readonly Place[]): { count: number; lines: number[] } {
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
    const { fragments, startInFile, endInFile } = mapPlace(map, place);
    const replacement = spliceLines({ ...lines, fragments, fallbackEnd: main });
    if (replacement === undefined) return undefined;
    pieces.push(text.slice(position, startInFile), replacement);
    position = endInFile;
  }
  return pieces.join("") + text.slice(position);
}

function planLooseEdit(text: string, view: string, request: EditRequest): EditOutcome {
  const map = createLineMap(text);
  const places = findLoosePlaces(view, map, request.oldText);
  const [place] = places;
  if (!place) return { kind: "missing" };
  // Loosely, only one place is ever changed.
  const found = { text: view, places, request: { ...request, replaceAll: false }, isExact: false };
  return finish(found, () => replaceLoosely(text, { map, place }, request));
}

function replaceLoosely(
  text: string,
  { map, place }: { map: LineMap; place: LoosePlace },
  { oldText, newText }: EditRequest,
): string | undefined {
  if (!place.reindent) return undefined;
  const oldLines = oldText.split("\n");
  const newLines = newText.split("\n");
  // The file may lack the last line end that the texts have: then it is not part of the change.
  if (mapPlace(map, place).fragments.length < oldLines.length) {
    oldLines.pop();
    if (newLines.length > 1 && newLines.at(-1) === "") newLines.pop();
  }
  const lines = { oldLines, newLines, reindent: place.reindent };
  return spliceMapped(text, { map, places: [place], lines, main: findLineEnds(text).main });
}
