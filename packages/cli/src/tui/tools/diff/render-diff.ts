import { fitLine, visibleWidth, wrapText } from "../../screen/screen-text.ts";
import { formatCount } from "../../text/format-amount.ts";
import type { Style, Theme } from "../../theme.ts";
import { findChangedWords, type LinePart } from "./changed-words.ts";
import { type DiffLine, parseDiff } from "./parse-diff.ts";

// Each of them may be compared with each.
const MAX_COMPARED = 12;

/** The room for a diff; `width` is in columns, signs and numbers included. */
export interface DiffOptions {
  width: number;
  theme: Theme;
  /** More lines of the diff than that are only counted. */
  maxLines: number;
  /** A line that is too long goes on below, in so many rows at most; all that it needs when left out. */
  maxRowsPerLine?: number;
}

/** A unified diff of one file, safe and without tabs, as lines with numbers, signs and colours; changed words stand out. */
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

/** Compares the removed lines with the added ones that took their place. */
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

/** In order: each removed line with the first added one that resembles it. */
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
  if (line.type === "note") return [fitLine(theme.dim(`${blank} ${line.text}`), width)];
  const { sign, paint } = LOOKS[line.type](theme);
  const text = (parts ?? [{ text: line.text, isChanged: false }])
    .map((part) => (part.isChanged ? theme.changedWord(part.text) : part.text))
    .join("");
  const number = theme.dim(String(line.number).padStart(digits));
  const room = Math.max(1, width - digits - 3);
  const rows = foldLine(text, room, maxRowsPerLine);
  return rows.map((row, index) => `${index === 0 ? number : blank} ${paint(`${sign} ${row}`.trimEnd())}`);
}

/** The last row of a line that needs more than `maxRows` ends with `…`. */
function foldLine(text: string, width: number, maxRows = Number.POSITIVE_INFINITY): string[] {
  if (visibleWidth(text) <= width) return [text];
  // A line that a program wrote may be megabytes long.
  const head = Number.isFinite(maxRows) ? fitLine(text, width * maxRows) : text;
  const rows = wrapText(head, width);
  return rows.length <= maxRows
    ? rows
    : [...rows.slice(0, maxRows - 1), fitLine(`${rows[maxRows - 1]}…`, width)];
}

const LOOKS: Record<TextLine["type"], (theme: Theme) => { sign: string; paint: Style }> = {
  same: () => ({ sign: " ", paint: (text) => text }),
  added: (theme) => ({ sign: "+", paint: theme.added }),
  removed: (theme) => ({ sign: "-", paint: theme.removed }),
};
