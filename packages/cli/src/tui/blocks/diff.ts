import { fitLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import { formatCount } from "../text.ts";
import type { Style, Theme } from "../theme.ts";

/** A part of a line, and whether it differs from the other line. */
interface LinePart {
  text: string;
  isChanged: boolean;
}

// The time grows with the square of this length.
const MAX_WORDS = 200;
// Lines that have less in common are two lines, not one changed line.
const MIN_COMMON_SHARE = 0.4;

/** The words that differ between two lines; undefined if they have little in common. */
export function findChangedWords(
  before: string,
  after: string,
): { before: LinePart[]; after: LinePart[] } | undefined {
  const [old, current] = [splitWords(before), splitWords(after)];
  if (old.length > MAX_WORDS || current.length > MAX_WORDS) return undefined;
  const common = findCommon(old, current);
  const size = (words: readonly string[]) => words.join("").replace(/\s/g, "").length;
  const commonSize = size(old.filter((_, index) => common.old.has(index)));
  const longest = Math.max(size(old), size(current));
  if (longest === 0 || commonSize / longest < MIN_COMMON_SHARE) return undefined;
  return { before: toParts(old, common.old), after: toParts(current, common.current) };
}

function splitWords(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common subsequence, as positions in both. */
function findCommon(
  old: readonly string[],
  current: readonly string[],
): { old: Set<number>; current: Set<number> } {
  const columns = current.length + 1;
  const lengths = new Uint16Array((old.length + 1) * columns);
  const lengthAt = (row: number, column: number) => lengths[row * columns + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = current.length - 1; column >= 0; column--) {
      lengths[row * columns + column] =
        old[row] === current[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const common = { old: new Set<number>(), current: new Set<number>() };
  for (let row = 0, column = 0; row < old.length && column < current.length; ) {
    if (old[row] === current[column]) {
      common.old.add(row++);
      common.current.add(column++);
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++;
    else column++;
  }
  return common;
}

function toParts(words: readonly string[], common: ReadonlySet<number>): LinePart[] {
  const parts: LinePart[] = [];
  words.forEach((text, index) => {
    const last = parts.at(-1);
    // A blank between two changed words counts as changed.
    const isBetween =
      text.trim() === "" && last?.isChanged === true && index + 1 < words.length && !common.has(index + 1);
    const isChanged = !common.has(index) || isBetween;
    if (last?.isChanged === isChanged) last.text += text;
    else parts.push({ text, isChanged });
  });
  return parts;
}

/**
 * A line of a unified diff. Numbers are 1-based; a removed line has its old number, all others the new one.
 */
type DiffLine =
  | { type: "same" | "added" | "removed"; number: number; text: string }
  /** The name of the file to which the lines after it belong. */
  | { type: "file"; text: string }
  /** Marks lines left out between two hunks. */
  | { type: "gap" }
  /** A note of the diff itself, such as a missing line end. */
  | { type: "note"; text: string };

/** The lines of a unified diff; where it is one of several files, each begins with its name. Other lines are dropped. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  const given = diff.split("\n");
  let [oldNumber, newNumber] = [0, 0];
  // What is missing of the hunk: a removed line may look like the header of a file.
  let [oldLeft, newLeft] = [0, 0];
  let isInHunk = false;
  let files = 0;
  let firstName = "";
  for (const [index, line] of given.entries()) {
    const start = HUNK.exec(line);
    const text = line.slice(1);
    if (line.startsWith("--- ") && given[index + 1]?.startsWith("+++ ") && oldLeft <= 0 && newLeft <= 0) {
      const name = line.slice("--- ".length);
      files += 1;
      if (files === 1) firstName = name;
      else lines.push({ type: "file", text: name });
      isInHunk = false;
    } else if (start) {
      if (isInHunk) lines.push({ type: "gap" });
      [oldNumber, newNumber] = [Number(start[1]), Number(start[3])];
      [oldLeft, newLeft] = [Number(start[2] ?? 1), Number(start[4] ?? 1)];
      isInHunk = true;
    } else if (isInHunk) {
      if (line.startsWith("+")) {
        lines.push({ type: "added", number: newNumber++, text });
        newLeft--;
      } else if (line.startsWith("-")) {
        lines.push({ type: "removed", number: oldNumber++, text });
        oldLeft--;
      } else if (line.startsWith("\\")) {
        lines.push({ type: "note", text: text.trim() });
        // A note about what is left out ends the hunk.
        if (!NO_LINE_END.test(line)) [oldLeft, newLeft] = [0, 0];
      } else if (line.startsWith(" ")) {
        lines.push({ type: "same", number: newNumber++, text });
        [oldNumber, oldLeft, newLeft] = [oldNumber + 1, oldLeft - 1, newLeft - 1];
      }
    }
  }
  return files > 1 ? [{ type: "file", text: firstName }, ...lines] : lines;
}

const NO_LINE_END = /^\\ No newline/;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

// Each of them may be compared with each.
const MAX_COMPARED = 12;

/** The space for a diff; `width` is in columns, including signs and numbers. */
interface DiffOptions {
  width: number;
  theme: Theme;
  /** Further lines of the diff are only counted. */
  maxLines: number;
  /** The maximum number of rows for a long line; unlimited if omitted. */
  maxRowsPerLine?: number;
}

/**
 * A unified diff, safe and without tabs, as lines with numbers, signs and colours; changed words
 * are highlighted.
 */
export function renderDiff(diff: string, options: DiffOptions): string[] {
  const lines = parseDiff(diff);
  const shown = lines.slice(0, options.maxLines);
  const digits = String(Math.max(0, ...shown.map((line) => ("number" in line ? line.number : 0)))).length;
  const parts = markWords(shown);
  const rendered = shown.flatMap((line) => renderLine(line, parts.get(line), { ...options, digits }));
  return shown.length === lines.length
    ? rendered
    : [...rendered, describeRest(lines.slice(shown.length), options.theme)];
}

function describeRest(lines: readonly DiffLine[], theme: Theme): string {
  const count = (type: DiffLine["type"]) => lines.filter((line) => line.type === type).length;
  return theme.dim(`… ${formatCount(lines.length, "more line")} (+${count("added")} −${count("removed")})`);
}

type TextLine = Extract<DiffLine, { number: number }>;

/** Compares removed lines with the added ones that replaced them. */
function markWords(lines: readonly DiffLine[]): Map<DiffLine, LinePart[]> {
  const parts = new Map<DiffLine, LinePart[]>();
  for (let index = 0; index < lines.length; ) {
    const removed = takeRun(lines, index, "removed");
    const added = takeRun(lines, index + removed.length, "added");
    if (removed.length <= MAX_COMPARED && added.length <= MAX_COMPARED) pairLines(removed, added, parts);
    index += Math.max(1, removed.length + added.length);
  }
  return parts;
}

/** In order: each removed line with the first added line that resembles it. */
function pairLines(
  removed: readonly TextLine[],
  added: readonly TextLine[],
  parts: Map<DiffLine, LinePart[]>,
): void {
  let next = 0;
  for (const before of removed) {
    for (let index = next; index < added.length; index++) {
      const after = added[index];
      const words = after && findChangedWords(before.text, after.text);
      if (!words) continue;
      parts.set(before, words.before).set(after, words.after);
      next = index + 1;
      break;
    }
  }
}

function takeRun(lines: readonly DiffLine[], start: number, type: "added" | "removed"): TextLine[] {
  const run: TextLine[] = [];
  for (let index = start; index < lines.length; index++) {
    const line = lines[index];
    if (line?.type !== type) break;
    run.push(line);
  }
  return run;
}

function renderLine(
  line: DiffLine,
  parts: readonly LinePart[] | undefined,
  { width, theme, digits, maxRowsPerLine }: DiffOptions & { digits: number },
): string[] {
  const blank = " ".repeat(digits);
  if (line.type === "gap") return [theme.dim(`${blank} ⋯`)];
  if (line.type === "file") return [fitLine(theme.dim(line.text), width)];
  if (line.type === "note") return [fitLine(theme.dim(`${blank} ${line.text}`), width)];
  const { sign, paint } = LINE_STYLES[line.type](theme);
  const text = (parts ?? [{ text: line.text, isChanged: false }])
    .map((part) => (part.isChanged ? theme.changedWord(part.text) : part.text))
    .join("");
  const number = theme.dim(String(line.number).padStart(digits));
  const room = Math.max(1, width - digits - 3);
  const rows = foldLine(text, room, maxRowsPerLine);
  return rows.map((row, index) => `${index === 0 ? number : blank} ${paint(`${sign} ${row}`.trimEnd())}`);
}

/** If a line needs more than `maxRows`, its last row ends with `…`. */
function foldLine(text: string, width: number, maxRows = Number.POSITIVE_INFINITY): string[] {
  if (visibleWidth(text) <= width) return [text];
  // A generated line may be megabytes long.
  const head = Number.isFinite(maxRows) ? fitLine(text, width * maxRows) : text;
  const rows = wrapText(head, width);
  return rows.length <= maxRows
    ? rows
    : [...rows.slice(0, maxRows - 1), fitLine(`${rows[maxRows - 1]}…`, width)];
}

const LINE_STYLES: Record<TextLine["type"], (theme: Theme) => { sign: string; paint: Style }> = {
  same: () => ({ sign: " ", paint: (text) => text }),
  added: (theme) => ({ sign: "+", paint: theme.added }),
  removed: (theme) => ({ sign: "-", paint: theme.removed }),
};
