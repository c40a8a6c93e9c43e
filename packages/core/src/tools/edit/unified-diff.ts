import { withoutHalfCharacter } from "../read/read-file.ts";
import { findLineEnds, toLineFeeds } from "./lines.ts";

const CONTEXT_LINES = 3;
// The time grows with the square of this: 1,000 differing lines take some tens of milliseconds.
const MAX_EDIT_LENGTH = 1_000;
const MAX_COMPARED_CHARS = 2 * 1024 * 1024;

/** The size limits of a displayed diff. */
interface DiffLimits {
  maxLines: number;
  maxLineChars: number;
}

const RESULT_LIMITS: DiffLimits = { maxLines: 2_000, maxLineChars: 500 };

/** The difference between two texts; `added` and `removed` count all lines, including those that the diff omits. */
export interface UnifiedDiff {
  /**
   * A unified diff with file headers. Long lines are truncated and long diffs end early: it is for display, not for
   * patching.
   */
  diff: string;
  added: number;
  removed: number;
  /** 1-based, in the new text; 1 when nothing differs. */
  firstLine: number;
}

/**
 * Compares two texts by line. If that would take long, everything from the first to the last difference counts as
 * replaced. If every line of both ends with CRLF, the diff omits the CR.
 */
export async function createUnifiedDiff(
  path: string,
  before: string,
  after: string,
  limits = RESULT_LIMITS,
): Promise<UnifiedDiff> {
  const [old, current] =
    isCrlf(before) && isCrlf(after) ? [toLineFeeds(before), toLineFeeds(after)] : [before, after];
  const span = findChangedSpan(old, current);
  const header = `--- ${path}\n+++ ${path}\n`;
  if (span.oldText === span.newText) return { diff: "", added: 0, removed: 0, firstLine: 1 };
  const hunks = await findHunks(span);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    diff:
      header +
      joinShown(
        hunks.flatMap((hunk) => [hunkHeader(hunk, span.lineOffset), ...hunk.lines]),
        limits,
      ),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
    firstLine: span.firstLine,
  };
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** The lines, each with its sign. */
  lines: string[];
}

async function findHunks({ oldText, newText }: ChangedSpan): Promise<Hunk[]> {
  if (oldText.length + newText.length <= MAX_COMPARED_CHARS) {
    // Loaded on first use: it takes 15 ms.
    const { structuredPatch } = await import("diff");
    const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
    const patch = structuredPatch("", "", oldText, newText, undefined, undefined, options);
    if (patch) return patch.hunks;
  }
  return [replacedBlock(oldText, newText)];
}

/** One hunk in which everything between the first and the last difference is replaced. */
function replacedBlock(oldText: string, newText: string): Hunk {
  const [old, current] = [keepLineEnds(oldText), keepLineEnds(newText)];
  const shorter = Math.min(old.length, current.length);
  let head = 0;
  while (head < shorter && old[head] === current[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === current.at(-1 - tail)) tail++;
  const signed = (sign: string, lines: readonly string[]) => lines.flatMap((line) => signLine(sign, line));
  return {
    oldStart: 1,
    oldLines: old.length,
    newStart: 1,
    newLines: current.length,
    lines: [
      ...signed(" ", old.slice(0, head)),
      ...signed("-", old.slice(head, old.length - tail)),
      ...signed("+", current.slice(head, current.length - tail)),
      ...signed(" ", old.slice(old.length - tail)),
    ],
  };
}

function keepLineEnds(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function signLine(sign: string, line: string): string[] {
  return line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, "\\ No newline at end of file"];
}

/** A range without lines is named by the line before it, as diff programs do. */
function hunkHeader({ oldStart, oldLines, newStart, newLines }: Hunk, lineOffset: number): string {
  const range = (start: number, lines: number) => `${start + lineOffset - (lines === 0 ? 1 : 0)},${lines}`;
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}

function isCrlf(text: string): boolean {
  const { main, isMixed } = findLineEnds(text);
  return main === "\r\n" && !isMixed;
}

interface ChangedSpan {
  /** The differing lines with a few lines of context. */
  oldText: string;
  newText: string;
  /** Lines before the span. */
  lineOffset: number;
  /** The first line that differs, 1-based. */
  firstLine: number;
}

/** Removes the equal parts at both ends, so that a small change is also cheap in a large file. */
function findChangedSpan(before: string, after: string): ChangedSpan {
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix++;
  let suffix = 0;
  while (
    suffix < shorter - prefix &&
    before.charCodeAt(before.length - 1 - suffix) === after.charCodeAt(after.length - 1 - suffix)
  ) {
    suffix++;
  }
  const start = startOfContext(before, prefix);
  const oldEnd = endOfContext(before, before.length - suffix);
  const newEnd = endOfContext(after, after.length - suffix);
  return {
    oldText: before.slice(start, oldEnd),
    newText: after.slice(start, newEnd),
    lineOffset: countLineFeeds(before.slice(0, start)),
    firstLine: countLineFeeds(before.slice(0, prefix)) + 1,
  };
}

function startOfContext(text: string, at: number): number {
  let start = at;
  for (let line = 0; line <= CONTEXT_LINES && start > 0; line++) start = text.lastIndexOf("\n", start - 1);
  return start <= 0 ? 0 : start + 1;
}

function endOfContext(text: string, at: number): number {
  // One line more than needed: the equal tail may begin in the middle of a line.
  let end = at;
  for (let line = 0; line <= CONTEXT_LINES + 1; line++) {
    const next = text.indexOf("\n", end);
    if (next === -1) return text.length;
    end = next + 1;
  }
  return end;
}

function countLineFeeds(text: string): number {
  return text.split("\n").length - 1;
}

function cutLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const shown = withoutHalfCharacter(line.slice(0, maxChars));
  return `${shown}… [${line.length - shown.length} more characters]`;
}

function joinShown(lines: readonly string[], { maxLines, maxLineChars }: DiffLimits): string {
  const shown = lines.slice(0, maxLines).map((line) => cutLine(line, maxLineChars));
  if (lines.length > shown.length)
    shown.push(`\\ ${lines.length - shown.length} more lines of the diff are not shown`);
  return `${shown.join("\n")}\n`;
}
