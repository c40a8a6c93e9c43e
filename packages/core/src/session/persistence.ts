import { join } from "node:path";
import { JsonlWriter } from "../infrastructure/writing/jsonl-writer.ts";
import { toFileLine } from "./file-line.ts";
import { createHeader } from "./session-header.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

export { DeferredWriter, type DeferredWriterOptions } from "./deferred-writer.ts";
export { listSessions } from "./list-sessions.ts";
export { readSessionFile, type SessionFile, SessionFileError } from "./read-session-file.ts";

/**
 * Begins a new session file that holds its header only.
 * @throws Error, which names the file, when it cannot be written.
 */
export async function createSessionFile(
  sessionsDir: string,
  cwd: string,
  parentSession?: string,
): Promise<{ path: string; header: SessionHeader }> {
  const header = createHeader({ cwd, parentSession });
  const path = join(sessionsDir, `${header.id}.jsonl`);
  appendLine(path, header);
  return { path, header };
}

/**
 * Adds one entry to the end of a session file; what is there stays as it is.
 * @throws Error, which names the file, when it cannot be written.
 */
export async function appendEntry(sessionPath: string, entry: SessionEntry): Promise<void> {
  appendLine(sessionPath, toFileLine(entry));
}

function appendLine(path: string, line: object): void {
  const file = new JsonlWriter(path);
  try {
    // A disk that became full in the middle of the line refuses the second attempt.
    while (file.append(line) === 0);
  } finally {
    file.close();
  }
}
