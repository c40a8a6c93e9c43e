import {
  createLineMap,
  deriveReindent,
  findLineEnds,
  type LineMap,
  type Reindent,
  splitLineParts,
  toPlainPunctuation,
} from "../edit/lines.ts";
import { missingTextError } from "../edit/missing-text.ts";
import { spliceMapped } from "../edit/plan-edit.ts";
import type { PatchHunk } from "./parse-patch.ts";

/** A text after a hunk. */
interface PatchedText {
  text: string;
  /** The line of the change, from 1. */
  firstLine: number;
  /** The index of the line after the change. */
  nextIndex: number;
  /** False when lines differed in white space or quotes. */
  isExact: boolean;
}

/** A place where the lines of a hunk are in a file. */
interface Candidate {
  /** Index of the first line. */
  index: number;
  reindent: Reindent;
}

const UNCHANGED: Reindent = (indent) => indent;
const MAX_NAMED_LINES = 10;
// A hunk that matches more often is ambiguous anyway.
const MAX_CANDIDATES = 1_000;

/**
 * Replaces the lines of a hunk. They have to be in one place only, after `from` and the hunk's header lines if the file
 * has them several times: a hunk that could mean two places changes nothing.
 * @param from the index of the line after the previous hunk.
 * @throws Error with the nearest lines, or those of all candidates.
 */
export function applyHunk(
  text: string,
  hunk: PatchHunk,
  { path, name, from }: { path: string; name: string; from: number },
): PatchedText {
  const map = createLineMap(text);
  if (hunk.oldLines.length === 0) return insertLines(text, map, hunk, { path, name, from });
  const oldLines = [...hunk.oldLines];
  const newLines = [...hunk.newLines];
  let isExact = true;
  let candidates = findExact(map, oldLines);
  if (candidates.length === 0 && oldLines.length <= map.lines.length) {
    isExact = false;
    candidates = findLoose(map, oldLines);
  }
  const chosen = choose(candidates, map, hunk, from);
  if (chosen.length === 0)
    throw missingTextError(
      path,
      text,
      { oldText: oldLines.join("\n"), newText: newLines.join("\n") },
      { old: name, replacement: "Its result" },
    );
  const [candidate] = chosen;
  if (chosen.length > 1 || !candidate) throw ambiguousError(path, name, chosen);
  const changed = replaceLines(text, map, { oldLines, newLines, candidate });
  if (changed === undefined)
    throw new Error(
      `${name} is in ${path} at line ${candidate.index + 1}, but its indentation differs and follows no single rule. ` +
        "Give the lines exactly as the file has them; nothing was changed.",
    );
  return {
    text: changed,
    firstLine: candidate.index + 1,
    nextIndex: candidate.index + newLines.length,
    isExact,
  };
}

function findExact({ lines }: LineMap, wanted: readonly string[]): Candidate[] {
  return findRuns(
    lines.map((line) => line.text),
    wanted,
  ).map((index) => ({ index, reindent: UNCHANGED }));
}

function findLoose({ lines }: LineMap, wanted: readonly string[]): Candidate[] {
  const key = (line: string) => toPlainPunctuation(line).trim();
  if (wanted.every((line) => line.trim() === "")) return [];
  return findRuns(
    lines.map((line) => key(line.text)),
    wanted.map(key),
  ).map((index) => {
    const pairs = wanted.flatMap((line, at) =>
      line.trim() === ""
        ? []
        : [
            {
              given: splitLineParts(line).indent,
              inFile: splitLineParts(lines[index + at]?.text ?? "").indent,
            },
          ],
    );
    return { index, reindent: deriveReindent(pairs) ?? (() => undefined) };
  });
}

/** The indices at which the wanted lines begin. */
function findRuns(lines: readonly string[], wanted: readonly string[]): number[] {
  const runs: number[] = [];
  const anchor = wanted.reduce(
    (best, line, index) => (line.length > (wanted[best] ?? "").length ? index : best),
    0,
  );
  const sought = wanted[anchor] ?? "";
  for (
    let at = lines.indexOf(sought);
    at !== -1 && runs.length < MAX_CANDIDATES;
    at = lines.indexOf(sought, at + 1)
  ) {
    const first = at - anchor;
    if (first >= 0 && wanted.every((line, index) => lines[first + index] === line)) runs.push(first);
  }
  return runs;
}

/** Of several candidates those that the end of the file, the header lines or the order of the hunks point to. */
function choose(candidates: Candidate[], map: LineMap, hunk: PatchHunk, from: number): Candidate[] {
  if (hunk.isAtEnd) {
    const end = lineCount(map);
    const atEnd = candidates.filter(({ index }) => index + hunk.oldLines.length === end);
    if (atEnd.length > 0) return atEnd;
  }
  if (candidates.length < 2) return candidates;
  if (hunk.headers.length > 0) {
    const firsts = findHeaders(map, hunk.headers).flatMap(
      (header) => candidates.find(({ index }) => index >= header) ?? [],
    );
    if (firsts.length > 0) return [...new Set(firsts)];
  }
  const later = candidates.filter(({ index }) => index >= from);
  return from > 0 && later.length > 0 ? later : candidates;
}

/** Indices of lines that are like the last header line, after the first ones that are like the others. */
function findHeaders({ lines }: LineMap, headers: readonly string[]): number[] {
  let from = 0;
  for (const header of headers.slice(0, -1)) {
    const at = lines.findIndex((line, index) => index >= from && line.text.trim() === header);
    if (at === -1) return [];
    from = at + 1;
  }
  const last = headers.at(-1) ?? "";
  const matching = (isLike: (text: string) => boolean) =>
    lines.flatMap((line, index) => (index >= from && isLike(line.text) ? [index] : []));
  const equal = matching((text) => text.trim() === last);
  return equal.length > 0 ? equal : matching((text) => text.includes(last));
}

/** Without the empty line after a last line ending. */
function lineCount({ lines }: LineMap): number {
  return lines.at(-1)?.text === "" ? lines.length - 1 : lines.length;
}

function ambiguousError(path: string, name: string, candidates: readonly Candidate[]): Error {
  const lines = candidates.slice(0, MAX_NAMED_LINES).map(({ index }) => index + 1);
  const more = candidates.length > lines.length ? ", …" : "";
  return new Error(
    `${name} matches ${candidates.length} places in ${path} (lines ${lines.join(", ")}${more}). ` +
      "Add unchanged lines around it, or an @@ line such as the one of its function; nothing was changed.",
  );
}

interface Replacing {
  oldLines: string[];
  newLines: string[];
  candidate: Candidate;
}

/** Undefined if the indentation of a new line would be a guess. */
function replaceLines(
  text: string,
  map: LineMap,
  { oldLines, newLines, candidate }: Replacing,
): string | undefined {
  const { index, reindent } = candidate;
  const last = index + oldLines.length - 1;
  const start = map.starts[index] ?? 0;
  if (newLines.length === 0) return removeLines(text, map, index, oldLines.length);
  const end = (map.starts[last] ?? 0) + (map.lines[last]?.text.length ?? 0);
  return spliceMapped(text, {
    map,
    ranges: [{ start, end }],
    lines: { oldLines, newLines, reindent },
    main: findLineEnds(text).main,
  });
}

function removeLines(text: string, map: LineMap, index: number, count: number): string {
  const start = map.startsInFile[index] ?? 0;
  const end = map.startsInFile[index + count] ?? text.length;
  const kept = text.slice(0, start);
  // The last line of the file had no ending, so its predecessor has none then.
  return index + count < map.lines.length ? kept + text.slice(end) : kept.replace(/\r\n$|\n$|\r$/, "");
}

function insertLines(
  text: string,
  map: LineMap,
  { headers, newLines }: PatchHunk,
  { path, name, from }: { path: string; name: string; from: number },
): PatchedText {
  const found = headers.length > 0 ? findHeaders(map, headers).filter((index) => index >= from) : [];
  if (headers.length > 0 && found.length !== 1) {
    const problem = found.length === 0 ? `no line of ${path} is` : `${found.length} lines of ${path} are`;
    throw new Error(
      `${name} only adds lines, and ${problem} like its @@ line ${JSON.stringify(headers.at(-1))}. ` +
        "Add unchanged lines around it; nothing was changed.",
    );
  }
  const { main } = findLineEnds(text);
  const index = found[0] === undefined ? lineCount(map) : found[0] + 1;
  const at = map.startsInFile[index] ?? text.length;
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const isOpen = before !== "" && !/[\r\n]$/.test(before);
  const added = newLines.join(main);
  const isAtOpenEnd = isOpen && after === "";
  const inserted = isAtOpenEnd ? main + added : added + main;
  return {
    text: before + inserted + after,
    firstLine: index + 1,
    nextIndex: index + newLines.length,
    isExact: true,
  };
}
