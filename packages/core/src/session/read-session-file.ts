import { statSync } from "node:fs";
import { readLines } from "../infrastructure/line-reader.ts";
import { type ParsedLine, parseSessionLine } from "./parse-line.ts";
import { SESSION_VERSION, type SessionEntry, type SessionHeader } from "./types.ts";

/** A session file that cannot be opened at all. The file is never touched. */
export class SessionFileError extends Error {
  override readonly name = "SessionFileError";
}

export interface SessionFile {
  path: string;
  header: SessionHeader;
  entries: SessionEntry[];
  /** Lines that were no entry: torn, welded together or damaged. They are passed over. */
  skippedLines: number;
  /** Bytes of the file when it was read. */
  size: number;
}

/**
 * Reads a session file line by line. Damaged lines are counted and passed over: a session is never lost over one.
 * @throws SessionFileError when there is no header, or the file is from a newer version.
 */
export function readSessionFile(path: string): SessionFile {
  const { size } = statSync(path);
  let header: SessionHeader | undefined;
  const entries: SessionFile["entries"] = [];
  let skippedLines = 0;
  for (const { text } of readLines(path)) {
    const parsed = parseLineOrParts(text);
    if (parsed.length === 0) skippedLines++;
    for (const line of parsed) {
      if (line.kind === "entry") entries.push(line.entry);
      else header ??= checkVersion(line.header, path);
    }
    if (!header && skippedLines > MAX_LINES_BEFORE_HEADER) break;
  }
  if (!header) throw new SessionFileError(`${path} is no session file: its first line is no session header.`);
  return { path, header, entries, skippedLines, size };
}

// A few damaged lines may precede the header; a large file of another kind is not searched to its end.
const MAX_LINES_BEFORE_HEADER = 100;

/** Lines run together when a process died between a line and its newline; both halves are still good. */
function parseLineOrParts(text: string): ParsedLine[] {
  const line = parseSessionLine(text);
  if (line) return [line];
  return splitWelded(text.replaceAll("\0", "")).flatMap((part) => parseSessionLine(part) ?? []);
}

function splitWelded(text: string): string[] {
  const starts = [...text.matchAll(/\{"type":"/g)].map((match) => match.index);
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

export function checkVersion(header: SessionHeader, path: string): SessionHeader {
  if (header.version <= SESSION_VERSION) return header;
  throw new SessionFileError(
    `${path} has version ${header.version} of the session format, and this diligent reads up to ${SESSION_VERSION}. Please update diligent.`,
  );
}
