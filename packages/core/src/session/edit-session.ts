import { unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { now } from "../infrastructure/clock.ts";
import { openSession } from "./open-session.ts";
import { readSessionFile } from "./read-session-file.ts";
import type { SessionInfo } from "./types.ts";

/**
 * Gives a session a name for lists. Where it is open elsewhere, that process goes on undisturbed.
 * @throws SessionFileError when it cannot be read, the file system's error when it cannot be written.
 */
export function renameSession({ path, cwd }: Pick<SessionInfo, "path" | "cwd">, name: string): void {
  const session = openSession({ cwd, sessionsDir: dirname(path) }, readSessionFile(path));
  session.log.annotate((place) => ({ type: "session_info", ...place, name }));
  session.writer?.sync();
  session.writer?.close();
}

/**
 * Tells the model something with the next prompt of a session. Where it is open elsewhere, that process goes on undisturbed.
 * @throws SessionFileError when it cannot be read, the file system's error when it cannot be written.
 */
export function tellSession({ path, cwd }: Pick<SessionInfo, "path" | "cwd">, text: string): void {
  const session = openSession({ cwd, sessionsDir: dirname(path) }, readSessionFile(path));
  const message = { role: "user" as const, content: text, timestamp: now() };
  session.log.append((place) => ({ type: "message", ...place, message }));
  session.writer?.sync();
  session.writer?.close();
}

/** Deletes a session's file for good. @throws the file system's error when it cannot be, also when it is gone. */
export function removeSession({ path }: Pick<SessionInfo, "path">): void {
  unlinkSync(path);
}
