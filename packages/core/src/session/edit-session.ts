import { unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { openSession, type SessionPlace } from "./open-session.ts";
import { readSessionFile } from "./read-session-file.ts";
import type { SessionInfo } from "./types.ts";

/**
 * Gives a session that nobody has open a name for lists.
 * @throws the file system's error when it cannot be written.
 */
export function renameSession({ path, cwd }: Pick<SessionInfo, "path" | "cwd">, name: string): void {
  const place: SessionPlace = {
    cwd,
    sessionsDir: dirname(path),
    onFailure(error) {
      throw error;
    },
    onForeignWrite() {
      // A name is no part of the conversation, so it is in nobody's way.
    },
  };
  const session = openSession(place, readSessionFile(path));
  session.log.annotate((entryPlace) => ({ type: "session_info", ...entryPlace, name }));
  session.writer?.sync();
  session.writer?.close();
}

/** Deletes a session's file for good. */
export function removeSession({ path }: Pick<SessionInfo, "path">): void {
  unlinkSync(path);
}
