import { statSync } from "node:fs";
import type { Redactor } from "../agent/types.ts";
import { readLines } from "../infrastructure/fs/read.ts";
import { type ParsedLine, parseDamagedLine, parseSessionLine } from "./parse-line.ts";
import { MAX_LINES_OF_NO_SESSION, readHeader, recoverHeader, SessionFileError } from "./session-header.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

export { SessionFileError };

/** The content of a session file. */
export interface SessionFile {
  path: string;
  header: SessionHeader;
  entries: SessionEntry[];
  /** The number of truncated or damaged lines. Their intact parts are among the entries. */
  skippedLines: number;
  /** Bytes of the file when it was read. */
  size: number;
}

/** How session files are read. */
export interface SessionReadOptions {
  /** Redacts secrets in the result: files from before redaction existed may contain some. */
  redactor?: Redactor | undefined;
}

/**
 * Reads a session file line by line. Damaged lines are counted and skipped: they never make a session unreadable. A
 * damaged header is reconstructed. @throws SessionFileError if the file contains nothing of a session, or is from a
 * newer version.
 */
export function readSessionFile(path: string, { redactor }: SessionReadOptions = {}): SessionFile {
  const { size } = statSync(path);
  const contents = new SessionContents(path);
  for (const { text } of readLines(path)) {
    contents.add(text);
    if (contents.isNoSession) break;
  }
  const { entries, skippedLines } = contents;
  const header = contents.header ?? recoverHeader(entries, path);
  if (!header)
    throw new SessionFileError(`${path} is not a session file: it has neither a header nor messages.`);
  return {
    path,
    header: redactor?.redact(header) ?? header,
    entries: redactor ? entries.map((entry) => redactor.redact(entry)) : entries,
    skippedLines,
    size,
  };
}

class SessionContents {
  header: SessionHeader | undefined;
  readonly entries: SessionEntry[] = [];
  skippedLines = 0;
  private lines = 0;
  private torn: string | undefined;
  private readonly positions = new Map<string, number>();

  constructor(private readonly path: string) {}

  get isNoSession(): boolean {
    return !this.header && this.entries.length === 0 && this.lines > MAX_LINES_OF_NO_SESSION;
  }

  add(text: string): void {
    this.lines++;
    const line = parseSessionLine(text);
    if (line && this.isWrittenAgain(text)) this.skippedLines--;
    this.torn = line ? undefined : text;
    if (!line) this.skippedLines++;
    for (const part of line ? [line] : parseDamagedLine(text)) this.take(part);
  }

  /** Recognizes a line that was truncated by a full disk and then written again, which is not lost. */
  private isWrittenAgain(text: string): boolean {
    const { torn = "" } = this;
    return /^\{"type":"[^"]*","id":"[^"]*"/.test(torn) && text.startsWith(torn);
  }

  private take(line: ParsedLine): void {
    if (line.kind === "header") this.header ??= readHeader(line.value, this.path);
    if (line.kind !== "entry") return;
    const { entry } = line;
    if (this.isRepeated(entry)) return;
    this.positions.set(entry.id, this.entries.length);
    this.entries.push(entry);
  }

  /** An entry whose newline could not be written is written twice. */
  private isRepeated(entry: SessionEntry): boolean {
    const position = this.positions.get(entry.id);
    const earlier = position === undefined ? undefined : this.entries[position];
    return earlier !== undefined && Bun.deepEquals(earlier, entry);
  }
}
