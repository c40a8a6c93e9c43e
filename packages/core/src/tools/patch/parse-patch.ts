/** A piece of an update: the lines that the file has, and what they become. */
export interface PatchHunk {
  /** Lines that come before it in the file, the outermost first. */
  headers: string[];
  oldLines: string[];
  newLines: string[];
  /** It is at the end of the file. */
  isAtEnd: boolean;
}

/** What a patch does with one file; paths as the model gave them. */
export type FilePatch =
  | { kind: "add"; path: string; lines: string[] }
  | { kind: "delete"; path: string }
  | { kind: "update"; path: string; moveTo?: string; hunks: PatchHunk[] };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const SECTION = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
// As git writes it; only what follows the ranges is a line of the file.
const RANGES = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@)?/;

/** @throws Error that names the line of the patch that is wrong, and what belongs there. */
export function parsePatch(patch: string): FilePatch[] {
  const reader = new PatchReader(patch);
  const files: FilePatch[] = [];
  while (!reader.isAtEnd) files.push(readFilePatch(reader));
  if (files.length === 0)
    throw reader.error("A patch needs at least one *** Add, Delete or Update File section");
  const paths = files.flatMap((file) =>
    file.kind === "update" && file.moveTo ? [file.path, file.moveTo] : [file.path],
  );
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined)
    throw new Error(`The patch names ${twice} twice; nothing was changed. Use one section for a file.`);
  return files;
}

/** The lines between the first and the last one. */
class PatchReader {
  private readonly lines: string[];
  private next: number;
  private readonly end: number;

  constructor(patch: string) {
    this.lines = patch.split(/\r?\n/);
    const isFilled = (line: string) => line.trim() !== "";
    const first = this.lines.findIndex(isFilled);
    const last = this.lines.findLastIndex(isFilled);
    if (this.lines[first]?.trim() !== BEGIN)
      throw new Error(
        `The first line of a patch is "${BEGIN}", but this one begins with ${quote(this.lines[first])}.`,
      );
    if (this.lines[last]?.trim() !== END)
      throw new Error(
        `The last line of a patch is "${END}", but this one ends with ${quote(this.lines[last])}. Send all of it.`,
      );
    this.next = first + 1;
    this.end = last;
  }

  get isAtEnd(): boolean {
    return this.next >= this.end;
  }

  /** Undefined after the last line. */
  peek(): string | undefined {
    return this.isAtEnd ? undefined : this.lines[this.next];
  }

  take(): string {
    const line = this.peek() ?? "";
    this.next += 1;
    return line;
  }

  /** About the line that comes next. */
  error(problem: string): Error {
    return new Error(
      `${problem} (line ${this.next + 1} of the patch: ${quote(this.peek() ?? END)}). Nothing was changed.`,
    );
  }
}

function quote(line = ""): string {
  return JSON.stringify(line.length > 100 ? `${line.slice(0, 100).toWellFormed()}…` : line);
}

function readFilePatch(reader: PatchReader): FilePatch {
  const [, action, given = ""] = SECTION.exec(reader.peek()?.trimEnd() ?? "") ?? [];
  const path = given.trim();
  if (action === undefined || path === "")
    throw reader.error('Expected "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH"');
  reader.take();
  if (action === "Delete") return { kind: "delete", path };
  return action === "Add" ? { kind: "add", path, lines: readAdded(reader) } : readUpdate(reader, path);
}

function isSectionEnd(line: string | undefined): boolean {
  return line === undefined || SECTION.test(line.trimEnd());
}

function readAdded(reader: PatchReader): string[] {
  const lines: string[] = [];
  while (!isSectionEnd(reader.peek())) {
    if (!reader.peek()?.startsWith("+")) throw reader.error('Every line of an added file begins with "+"');
    lines.push(reader.take().slice(1));
  }
  return lines;
}

function readUpdate(reader: PatchReader, path: string): FilePatch {
  const [, moveTo] = MOVE.exec(reader.peek()?.trimEnd() ?? "") ?? [];
  if (moveTo !== undefined) reader.take();
  const hunks: PatchHunk[] = [];
  while (!isSectionEnd(reader.peek())) hunks.push(readHunk(reader));
  if (hunks.length === 0 && moveTo === undefined)
    throw reader.error(`The update of ${path} has no hunk: give lines that begin with " ", "-" or "+"`);
  return { kind: "update", path, ...(moveTo !== undefined && { moveTo: moveTo.trim() }), hunks };
}

function readHunk(reader: PatchReader): PatchHunk {
  const hunk: PatchHunk = { headers: readHeaders(reader), oldLines: [], newLines: [], isAtEnd: false };
  for (let line = reader.peek(); !isSectionEnd(line) && !line?.startsWith("@@"); line = reader.peek()) {
    if (line?.trimEnd() === END_OF_FILE) {
      reader.take();
      hunk.isAtEnd = true;
      break;
    }
    readHunkLine(reader, hunk);
  }
  if (hunk.oldLines.length + hunk.newLines.length === 0)
    throw reader.error('A hunk needs lines that begin with " ", "-" or "+"');
  return hunk;
}

function readHeaders(reader: PatchReader): string[] {
  const headers: string[] = [];
  while (reader.peek()?.startsWith("@@")) {
    const header = reader.take().slice(2).trim().replace(RANGES, "").trim();
    if (header !== "") headers.push(header);
  }
  return headers;
}

function readHunkLine(reader: PatchReader, hunk: PatchHunk): void {
  const line = reader.peek() ?? "";
  const sign = line.charAt(0);
  // Editors and models drop the space of an empty line.
  const isContext = sign === " " || line === "";
  if (!isContext && sign !== "-" && sign !== "+")
    throw reader.error('Every line of a hunk begins with " " (unchanged), "-" (removed) or "+" (added)');
  if (sign !== "+") hunk.oldLines.push(line.slice(1));
  if (sign !== "-") hunk.newLines.push(line.slice(1));
  reader.take();
}
