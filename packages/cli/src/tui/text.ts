import { toSingleLine } from "../text/terminal-text.ts";
import { visibleWidth, wrapText } from "./screen/screen-text.ts";

/** An excerpt of some lines: their beginning or their end. */
interface CutLines {
  shown: readonly string[];
  /** The number of lines left out. */
  hidden: number;
}

/** The first lines. */
export function firstLines(lines: readonly string[], count: number): CutLines {
  const shown = lines.slice(0, count);
  return { shown, hidden: lines.length - shown.length };
}

/** The last lines. */
export function lastLines(lines: readonly string[], count: number): CutLines {
  const shown = lines.slice(Math.max(0, lines.length - count));
  return { shown, hidden: lines.length - shown.length };
}

/** The line that replaces the lines left out below; none if none was left out. */
export function moreLines(hidden: number): string[] {
  return hidden === 0 ? [] : [`… ${formatCount(hidden, "more line")}`];
}

const TAB_STOP = 4;

/**
 * The text with each tab replaced by spaces up to the next multiple of four columns, so that columns stay
 * aligned.
 */
export function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  return text.split("\n").map(expandLine).join("\n");
}

function expandLine(line: string): string {
  const [first = "", ...others] = line.split("\t");
  let column = visibleWidth(first);
  let expanded = first;
  for (const part of others) {
    const spaces = TAB_STOP - (column % TAB_STOP);
    expanded += " ".repeat(spaces) + part;
    column += spaces + visibleWidth(part);
  }
  return expanded;
}

/** `1 line`, `1,204 lines`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** `0.4 s`, `42 s`, `1 min 12 s`, `2 h 5 min`: as exact as a waiting user needs. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, durationMs) / 1_000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * A path as shown to people: relative to the working directory if it is below it, otherwise in full. `path`
 * is absolute.
 */
export function showPath(path: string, cwd: string | undefined): string {
  if (cwd === undefined || cwd === "/" || !path.startsWith(`${cwd}/`)) return path;
  return path.slice(cwd.length + 1) || path;
}

const CONTINUATION_COLUMNS = 2;

/**
 * A line of code or program output as lines of at most `width` columns. Its indentation stays; continuation
 * lines are indented a little further.
 */
export function wrapIndented(line: string, width: number): string[] {
  if (visibleWidth(line) <= width) return [line];
  const spaces = /^ */.exec(Bun.stripANSI(line))?.[0] ?? "";
  // The first run of that many spaces is the indentation: escape sequences contain none.
  const content = line.replace(spaces, "");
  const indent = Math.min(spaces.length, Math.floor(width / 2));
  const hanging = Math.min(indent + CONTINUATION_COLUMNS, Math.floor(width / 2));
  const [first = "", ...others] = wrapText(content, width - hanging);
  return [" ".repeat(indent) + first, ...others.map((part) => " ".repeat(hanging) + part)];
}

/** The maximum width of the name of a model, branch or directory. */
export const MAX_NAME_COLUMNS = 40;

/** A directory. A long path keeps its end, which people recognise; `ownName` is undefined for the root. */
export function formatDirectory(path: string): { text: string; ownName: string | undefined } {
  const whole = toSingleLine(path, Number.POSITIVE_INFINITY);
  const last = whole.slice(whole.lastIndexOf("/") + 1);
  const name = toSingleLine(last, MAX_NAME_COLUMNS);
  return {
    text: whole.length > MAX_NAME_COLUMNS ? `…/${name}` : whole,
    ownName: last === "" ? undefined : name,
  };
}
