/** A file that a diff changes. */
export interface DiffFile {
  /** Relative to the project's root, with `/`; for a removed file its earlier name. */
  path: string;
  /** The name before, if it was renamed or copied. */
  earlierPath?: string | undefined;
  change: "added" | "removed" | "changed";
  /** True if the diff does not show what changed. */
  isBinary?: boolean | undefined;
  hunks: DiffHunk[];
}

/** Lines of a file with what surrounds them. */
export interface DiffHunk {
  /** The first line before and after the change, counted from 1; 0 in an empty file. */
  oldStart: number;
  newStart: number;
  /** What git shows behind the line numbers, such as the name of a function. */
  heading: string;
  /** Each begins with a space, `+`, `-`, or `\` for a missing line end. */
  lines: string[];
}

/** A text is not a diff that can be reviewed; the message says why. */
export class DiffError extends Error {}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Reads a unified diff, with or without git's own header lines. @throws DiffError */
export function parseUnifiedDiff(text: string): DiffFile[] {
  const reader = new DiffReader();
  for (const line of text.split("\n")) reader.add(line);
  return reader.end();
}

class DiffReader {
  private readonly files: DiffFile[] = [];
  private file: DiffFile | undefined;
  private hunk: DiffHunk | undefined;
  private oldLeft = 0;
  private newLeft = 0;
  private oldName: string | undefined;

  add(line: string): void {
    if (this.hunk && (this.oldLeft > 0 || this.newLeft > 0)) this.addContent(this.hunk, line);
    else if (this.hunk && line.startsWith("\\")) this.hunk.lines.push(line);
    else this.addOutside(line.replace(/\r$/, ""));
  }

  private addOutside(line: string): void {
    if (/^diff --(?:cc|combined) /.test(line) || line.startsWith("@@@"))
      throw new DiffError("it is a combined diff of a merge; make it with git diff HEAD");
    const header = HUNK.exec(line);
    if (header) this.beginHunk(header);
    else this.addHeader(line);
  }

  end(): DiffFile[] {
    if (this.hunk && (this.oldLeft > 0 || this.newLeft > 0)) throw new DiffError("its last part is cut off");
    return this.files.filter(({ path }) => path !== "");
  }

  private addContent(hunk: DiffHunk, line: string): void {
    const mark = line[0];
    // Some programs remove the space of an empty line.
    if (mark === " " || mark === "\r" || line === "") {
      this.oldLeft--;
      this.newLeft--;
    } else if (mark === "-") this.oldLeft--;
    else if (mark === "+") this.newLeft--;
    else if (mark !== "\\")
      throw new DiffError(`a line of ${this.file?.path} begins with none of +, - and space`);
    hunk.lines.push(line === "" ? " " : line);
  }

  private beginHunk([
    ,
    oldStart,
    oldCount = "1",
    newStart,
    newCount = "1",
    heading = "",
  ]: RegExpExecArray): void {
    if (!this.file) throw new DiffError("it names no file before its first @@ line");
    this.hunk = { oldStart: Number(oldStart), newStart: Number(newStart), heading, lines: [] };
    this.file.hunks.push(this.hunk);
    this.oldLeft = Number(oldCount);
    this.newLeft = Number(newCount);
  }

  private addHeader(line: string): void {
    const [, name, value = ""] =
      /^(diff --git|---|\+\+\+|rename from|copy from|rename to|copy to|new file mode|deleted file mode|Binary files|GIT binary patch)(?: (.*))?$/.exec(
        line,
      ) ?? [];
    const { file } = this;
    if (name === "diff --git") this.beginFile(readBothNames(value));
    else if (name === "---") {
      this.oldName = readName(value, "a/");
      // Without git's header, this line begins a file.
      if (!file || this.hunk) this.beginFile("");
    } else if (name === "+++") this.noteNames(readName(value, "b/"));
    else if (name !== undefined && file) noteChange(file, name, value);
  }

  private beginFile(path: string): void {
    this.hunk = undefined;
    this.file = { path, change: "changed", hunks: [] };
    this.files.push(this.file);
  }

  private noteNames(newName: string | undefined): void {
    if (!this.file) throw new DiffError("it has a +++ line without a --- line before it");
    const { oldName } = this;
    this.hunk = undefined;
    this.file.path = newName ?? oldName ?? this.file.path;
    if (oldName === undefined) this.file.change = "added";
    if (newName === undefined) this.file.change = "removed";
  }
}

function noteChange(file: DiffFile, name: string, value: string): void {
  if (/ from$/.test(name)) file.earlierPath = unquote(value);
  else if (/ to$/.test(name)) file.path = unquote(value);
  else if (name === "new file mode") file.change = "added";
  else if (name === "deleted file mode") file.change = "removed";
  else file.isBinary = true;
}

/** Undefined for `/dev/null`. */
function readName(written: string, prefix: string): string | undefined {
  // Behind the name, diff -u writes a tab and the time, and git a tab if there is a space in the name.
  const name = unquote(written.replace(/\t[^"]*$/, ""));
  if (name === "/dev/null") return undefined;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** The name in `a/NAME b/NAME`: only needed for files without hunks, whose names are equal. */
function readBothNames(written: string): string {
  const quoted = /^"(?:[^"\\]|\\.)*" ("(?:[^"\\]|\\.)*")$/.exec(written)?.[1];
  if (quoted !== undefined) return readName(quoted, "b/") ?? "";
  const half = (written.length - 1) / 2;
  const [first, second] = [written.slice(0, half), written.slice(half + 1)];
  return first.slice(2) === second.slice(2) ? second.slice(2) : "";
}

const ESCAPES: Readonly<Record<string, number>> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 },
  ...{ '"': 34, "\\": 92 },
};

/** A name in quotes as git writes it, with its bytes in octal. */
function unquote(written: string): string {
  if (!written.startsWith('"')) return written;
  const bytes: number[] = [];
  for (const [part] of written.slice(1, -1).matchAll(/\\[0-7]{3}|\\[\s\S]|[^\\]+/g)) {
    if (!part.startsWith("\\")) bytes.push(...Buffer.from(part));
    else if (part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
    else bytes.push(ESCAPES[part[1] ?? ""] ?? part.charCodeAt(1));
  }
  return Buffer.from(bytes).toString();
}

/** The lines of the new version that a hunk shows, or of the old one for a removed file: the first and the last. */
export function shownLines({ change }: DiffFile, { oldStart, newStart, lines }: DiffHunk): [number, number] {
  const left = change === "removed" ? "+" : "-";
  const count = lines.filter((line) => line[0] !== left && line[0] !== "\\").length;
  const start = change === "removed" ? oldStart : newStart;
  return [start, start + Math.max(0, count - 1)];
}

/** A file as text that a model reads like git's own output. */
export function formatFile(file: DiffFile, hunks: readonly DiffHunk[] = file.hunks): string {
  const { path, earlierPath, change, isBinary } = file;
  const head = [`diff --git a/${earlierPath ?? path} b/${path}`];
  if (earlierPath !== undefined) head.push(`rename from ${earlierPath}`, `rename to ${path}`);
  if (isBinary) head.push(`(binary file, ${change})`);
  if (hunks.length > 0)
    head.push(
      `--- ${change === "added" ? "/dev/null" : `a/${earlierPath ?? path}`}`,
      `+++ ${change === "removed" ? "/dev/null" : `b/${path}`}`,
    );
  return [...head, ...hunks.flatMap(formatHunk)].join("\n");
}

function formatHunk({ oldStart, newStart, heading, lines }: DiffHunk): string[] {
  const count = (left: string) => lines.filter((line) => line[0] !== left && line[0] !== "\\").length;
  const range = `@@ -${oldStart},${count("+")} +${newStart},${count("-")} @@`;
  return [heading === "" ? range : `${range} ${heading}`, ...lines];
}

const MAX_LINE_CHARS = 4_000;

/**
 * Divides a diff so that each part has at most about `maxChars`. A file or hunk that is larger is continued in the next
 * part; only a single line is ever shortened.
 */
export function divideDiff(files: readonly DiffFile[], maxChars: number): string[] {
  const parts: string[][] = [[]];
  let left = maxChars;
  const add = (text: string) => {
    if (text.length > left && parts.at(-1)?.length) {
      parts.push([]);
      left = maxChars;
    }
    parts.at(-1)?.push(text);
    left -= text.length + 1;
  };
  for (const file of files) {
    const whole = formatFile(file);
    if (whole.length <= maxChars && !whole.split("\n").some((line) => line.length > MAX_LINE_CHARS))
      add(whole);
    else for (const hunks of divideHunks(file, maxChars)) add(formatFile(file, hunks));
  }
  return parts.map((texts) => texts.join("\n"));
}

function divideHunks(file: DiffFile, maxChars: number): DiffHunk[][] {
  const groups: DiffHunk[][] = [];
  let left = 0;
  for (const hunk of file.hunks.flatMap((each) => divideHunk(each, maxChars / 2))) {
    const size = hunk.lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (size > left) {
      groups.push([]);
      left = maxChars / 2;
    }
    groups.at(-1)?.push(hunk);
    left -= size;
  }
  return groups;
}

function divideHunk(hunk: DiffHunk, maxChars: number): DiffHunk[] {
  let { oldStart, newStart } = hunk;
  let current: DiffHunk = { ...hunk, lines: [] };
  const pieces = [current];
  let size = 0;
  for (const line of hunk.lines) {
    if (size > 0 && size + line.length > maxChars) {
      current = { ...hunk, oldStart, newStart, lines: [] };
      pieces.push(current);
      size = 0;
    }
    current.lines.push(shorten(line));
    size += Math.min(line.length, MAX_LINE_CHARS) + 1;
    if (line[0] === " " || line[0] === "-") oldStart++;
    if (line[0] === " " || line[0] === "+") newStart++;
  }
  return pieces;
}

function shorten(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  return `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}… (${line.length - MAX_LINE_CHARS} more characters)`;
}
