export type GrepMode = "files_with_matches" | "content" | "count";

/** One printed line of ripgrep's. */
export interface GrepLine {
  /** Relative to the searched directory; empty for a message that belongs to no line. */
  path: string;
  /** 0 outside of content mode. */
  line: number;
  isContext: boolean;
  /** The text of the line, or the count, or nothing. */
  text: string;
}

const CONTENT_LINE = /^(\d+)([:-])([\s\S]*)$/;

/** Reads a record that ripgrep printed with `--null`; undefined for a separator between groups. */
export function parseGrepRecord(record: string, mode: GrepMode): GrepLine | undefined {
  const end = record.indexOf("\0");
  const path = (end === -1 ? record : record.slice(0, end)).replace(/^\.\//, "");
  if (mode === "files_with_matches") return { path, line: 0, isContext: false, text: "" };
  if (record === "--" || record === "") return undefined;
  if (end === -1) return { path: "", line: 0, isContext: false, text: path };
  const rest = record.slice(end + 1);
  if (mode === "count") return { path, line: 0, isContext: false, text: rest };
  const [, line, sign, text] = CONTENT_LINE.exec(rest) ?? [];
  return { path, line: Number(line ?? 0), isContext: sign === "-", text: text ?? rest };
}

/** By path, and within a file in its order: ripgrep searches files side by side, so its own order changes. */
export function sortGrepLines(lines: readonly GrepLine[]): GrepLine[] {
  return [...lines].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}

export interface GrepLayout {
  mode: GrepMode;
  showLineNumbers: boolean;
  /** True when context was asked for: groups that do not touch are then set apart by `--`. */
  separateGroups: boolean;
  showPath(path: string): string;
}

/** The lines as grep prints them: `path:12:text`, with `-` for context. */
export function formatGrepLines(lines: readonly GrepLine[], layout: GrepLayout): string[] {
  return lines.flatMap((entry, index) => {
    const text = formatLine(entry, layout);
    const before = lines[index - 1];
    const touches = before?.path === entry.path && before.line + 1 >= entry.line;
    return layout.separateGroups && before && !touches ? ["--", text] : [text];
  });
}

function formatLine({ path, line, isContext, text }: GrepLine, layout: GrepLayout): string {
  if (path === "") return text;
  const shownPath = layout.showPath(path);
  if (layout.mode === "files_with_matches") return shownPath;
  const sign = isContext ? "-" : ":";
  const number = layout.mode === "content" && layout.showLineNumbers ? `${line}${sign}` : "";
  return `${shownPath}${sign}${number}${text.replace(/\r$/, "")}`;
}
