import { splitLineParts, toPlainText } from "./canonical-text.ts";
import { deriveReindent, type Reindent } from "./indentation.ts";
import type { LineMap, Place } from "./line-map.ts";

// Beyond these the search would take seconds; then there is no loose match.
const MAX_CHARS = 8 * 1024 * 1024;
const MAX_COMPARISONS = 5_000_000;
const MAX_PLACES = 20;

/** A place that is alike but for typography, or for white space around lines. */
export interface LoosePlace extends Place {
  /** Undefined when the indentation differs by no one rule. */
  reindent: Reindent | undefined;
}

/**
 * Places that differ from `wanted` only in quotes, dashes and kinds of space, or whole lines that differ besides in
 * trailing white space and indentation. `text` has LF ends, `map` is the map of it. In order, none twice.
 */
export function findLoosePlaces(text: string, map: LineMap, wanted: string): LoosePlace[] {
  if (text.length > MAX_CHARS || wanted.trim() === "") return [];
  const alike = findPlainPlaces(toPlainText(text), toPlainText(wanted));
  const lines = findLineRuns(text, map, wanted).filter((run) => !alike.some((place) => overlaps(place, run)));
  return [...alike, ...lines].sort((left, right) => left.start - right.start);
}

function overlaps(left: Place, right: Place): boolean {
  return left.start < right.end && right.start < left.end;
}

function findPlainPlaces(text: string, wanted: string): LoosePlace[] {
  const places: LoosePlace[] = [];
  for (
    let at = text.indexOf(wanted);
    at !== -1 && places.length < MAX_PLACES;
    at = text.indexOf(wanted, at + 1)
  ) {
    places.push({ start: at, end: at + wanted.length, reindent: (indent) => indent });
  }
  return places;
}

function findLineRuns(text: string, map: LineMap, wanted: string): LoosePlace[] {
  const endsLine = wanted.endsWith("\n");
  const wantedLines = (endsLine ? wanted.slice(0, -1) : wanted).split("\n");
  const wantedKeys = wantedLines.map(lineKey);
  const anchor = wantedKeys.reduce(
    (best, key, index) => (key.length > (wantedKeys[best] ?? "").length ? index : best),
    0,
  );
  const keys = map.lines.map((line) => lineKey(line.text));
  const runs: LoosePlace[] = [];
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
    runs.push(toPlace(text, map, { first, wantedLines, endsLine }));
  }
  return runs;
}

function lineKey(line: string): string {
  return toPlainText(line).trim();
}

function toPlace(
  text: string,
  { lines, starts }: LineMap,
  { first, wantedLines, endsLine }: { first: number; wantedLines: readonly string[]; endsLine: boolean },
): LoosePlace {
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
