import { join } from "node:path";
import { JsonlWriter } from "../infrastructure/fs/jsonl-writer.ts";
import { createHeader } from "./session-header.ts";
import { type SessionEntry, type SessionHeader, toFileLine } from "./types.ts";

export { listSessions } from "./list.ts";
export { readSessionFile, type SessionFile, SessionFileError } from "./read-file.ts";
export { DeferredWriter, type DeferredWriterOptions } from "./writer.ts";

/**
 * Creates a session file with only its header. @throws Error that names the file if it cannot be written.
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
 * Adds one entry to the end of a session file; existing content is unchanged. @throws Error that names the file if
 * it cannot be written.
 */
export async function appendEntry(sessionPath: string, entry: SessionEntry): Promise<void> {
  appendLine(sessionPath, toFileLine(entry));
}

function appendLine(path: string, line: object): void {
  const file = new JsonlWriter(path);
  try {
    // If the disk became full in the middle of the line, the second attempt fails too.
    while (file.append(line) === 0);
  } finally {
    file.close();
  }
}
