import { join } from "node:path";
import { modificationTime, readDirectory } from "../infrastructure/reading/directory-entries.ts";
import { readLines } from "../infrastructure/reading/line-reader.ts";
import { SessionFileError } from "./session-header.ts";
import { SessionSummary } from "./session-summary.ts";
import type { SessionInfo } from "./types.ts";

const EXTENSION = ".jsonl";

/** A session file that this program cannot open, such as one of a newer version. */
export interface UnreadableSession {
  /** From the file's name. */
  id: string;
  /** A sentence that names the file. */
  reason: string;
}

/**
 * The sessions of a directory, the last changed first. Each file is read line by line and only what the list shows is
 * parsed, so that memory does not grow with a file: a line of more than 256 KB is judged by its beginning. What is no session, or cannot be opened, is left out.
 */
export async function listSessions(sessionsDir: string): Promise<SessionInfo[]> {
  const sessions = sessionFileNames(sessionsDir).flatMap(
    (name) => summarizeSession(join(sessionsDir, name)) ?? [],
  );
  return sessions.sort(
    (left, right) => right.modified.getTime() - left.modified.getTime() || (left.path < right.path ? 1 : -1),
  );
}

/**
 * The path of the session with this id, or of the last changed one without an id; undefined when there is none. A file
 * of that name counts also when it cannot be opened, so that whoever asked for it learns why.
 */
export async function findSessionFile(sessionsDir: string, id?: string): Promise<string | undefined> {
  const name = `${id}${EXTENSION}`;
  if (id !== undefined && sessionFileNames(sessionsDir).includes(name)) return join(sessionsDir, name);
  const sessions = await listSessions(sessionsDir);
  return sessions.find((session) => id === undefined || session.id === id)?.path;
}

/** The session files of a directory that `listSessions` leaves out because they cannot be opened. */
export function listUnreadableSessions(sessionsDir: string): UnreadableSession[] {
  return sessionFileNames(sessionsDir).flatMap((name) => {
    const summary = readSummary(join(sessionsDir, name));
    const id = name.slice(0, -EXTENSION.length);
    return summary instanceof Error ? [{ id, reason: summary.message }] : [];
  });
}

/** Undefined when the file is no session, or cannot be opened. */
export function summarizeSession(path: string): SessionInfo | undefined {
  const summary = readSummary(path);
  return summary instanceof Error ? undefined : summary?.toInfo(new Date(modificationTime(path)));
}

function sessionFileNames(sessionsDir: string): string[] {
  try {
    return readDirectory(sessionsDir).flatMap(({ name, kind }) =>
      kind === "file" && name.endsWith(EXTENSION) ? [name] : [],
    );
  } catch {
    // No directory yet, or none that may be read: there are no sessions to show.
    return [];
  }
}

function readSummary(path: string): SessionSummary | Error | undefined {
  const summary = new SessionSummary(path);
  try {
    const isBeginningEnough = (beginning: string) => summary.isBeginningEnough(beginning);
    for (const line of readLines(path, { isBeginningEnough })) {
      summary.add(line);
      if (summary.isNoSession) return undefined;
    }
    return summary;
  } catch (error) {
    if (error instanceof SessionFileError) return error;
    return new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
