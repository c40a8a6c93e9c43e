/** What a search tells: paths, matching lines, or how many lines match in each file. */
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
  /** True where `text` is ripgrep's own word about the file. */
  isMessage?: boolean;
}

const CONTENT_LINE = /^(\d+)([:-])([\s\S]*)$/;
const BINARY_MATCH =
  /^([\s\S]+): ((?:binary file matches|WARNING: stopped searching binary file after match) \(.*)$/;

/** Reads the records that ripgrep prints with `--null`, one after the other; undefined for what is no line yet. */
export type GrepReader = (record: string) => GrepLine | undefined;

/**
 * A path ends with a NUL, so that one with line feeds in it is told from what follows; it comes in several records.
 * Paths below a searched directory begin with `./`.
 */
export function createGrepReader(mode: GrepMode): GrepReader {
  let begun = "";
  return (record) => {
    const text = begun + record;
    begun = "";
    const end = text.indexOf("\0");
    if (mode === "files_with_matches") return { path: plainPath(text), line: 0, isContext: false, text: "" };
    if (end !== -1) return parseLine(plainPath(text.slice(0, end)), text.slice(end + 1), mode);
    const [, binary, message] = BINARY_MATCH.exec(text) ?? [];
    if (binary !== undefined && message !== undefined) {
      return { path: plainPath(binary), line: 0, isContext: false, text: message, isMessage: true };
    }
    if (text.startsWith("./")) begun = `${text}\n`;
    else if (text !== "--" && text !== "") return { path: "", line: 0, isContext: false, text };
    return undefined;
  };
}

function parseLine(path: string, rest: string, mode: GrepMode): GrepLine {
  if (mode === "count") return { path, line: 0, isContext: false, text: rest };
  const [, line, sign, text] = CONTENT_LINE.exec(rest) ?? [];
  return { path, line: Number(line ?? 0), isContext: sign === "-", text: text ?? rest };
}

function plainPath(path: string): string {
  return path.replace(/^\.\//, "");
}

/** By path, and within a file in its order: ripgrep searches files side by side, so its own order changes. */
export function sortGrepLines(lines: readonly GrepLine[]): GrepLine[] {
  return [...lines].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}

/** Line numbers are shown in content mode only, whatever `showLineNumbers` says. */
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

function formatLine({ path, line, isContext, text, isMessage }: GrepLine, layout: GrepLayout): string {
  if (path === "") return text;
  const shownPath = layout.showPath(path);
  if (isMessage) return `${shownPath}: ${text}`;
  if (layout.mode === "files_with_matches") return shownPath;
  const sign = isContext ? "-" : ":";
  const number = layout.mode === "content" && layout.showLineNumbers ? `${line}${sign}` : "";
  return `${shownPath}${sign}${number}${text.replace(/\r$/, "")}`;
}
