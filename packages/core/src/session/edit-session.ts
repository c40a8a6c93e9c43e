import { rmSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { sessionRecordPath } from "../infrastructure/diligent-dir.ts";
import { now } from "../infrastructure/runtime.ts";
import type { UserMessage } from "../types.ts";
import { labelEntry } from "./log.ts";
import { continueSession, flushSession, type LiveSession } from "./open.ts";
import { readSessionFile, type SessionReadOptions } from "./read-file.ts";
import type { SteeringQueue } from "./run.ts";
import type { SessionInfo } from "./types.ts";

/**
 * Gives a session a name for lists. If it is open elsewhere, that process continues undisturbed. This function and
 * those below redact the text that they write.
 * @throws SessionFileError when it cannot be read, the file system's error when it cannot be written.
 */
export function renameSession(
  location: Pick<SessionInfo, "path" | "cwd">,
  name: string,
  options?: SessionReadOptions,
): void {
  const rename = ({ log }: LiveSession) =>
    log.annotate((entry) => ({ type: "session_info", ...entry, name }));
  editSession(location, rename, options);
}

/**
 * Archives a session, or restores it to lists; its file stays where it is. If it is open elsewhere, that process
 * continues undisturbed.
 * @throws SessionFileError when it cannot be read, the file system's error when it cannot be written.
 */
export function archiveSession(location: Pick<SessionInfo, "path" | "cwd">, archived: boolean): void {
  editSession(location, ({ log }) => log.annotate((entry) => ({ type: "archive", ...entry, archived })));
}

/**
 * Labels an entry of a session; a blank label removes the label. If the session is open elsewhere, that process
 * continues undisturbed.
 * @throws Error when there is no such entry, SessionFileError when the session cannot be read, the file system's error
 * when it cannot be written.
 */
export function labelSessionEntry(
  location: Pick<SessionInfo, "path" | "cwd">,
  entryId: string,
  label: string,
  options?: SessionReadOptions,
): void {
  editSession(location, ({ log }) => labelEntry(log, entryId, label), options);
}

/**
 * Adds a note for the model to the next prompt of a session. If it is open elsewhere, that process continues
 * undisturbed.
 * @throws SessionFileError when it cannot be read, the file system's error when it cannot be written.
 */
export function notifySession(
  location: Pick<SessionInfo, "path" | "cwd">,
  text: string,
  options?: SessionReadOptions,
): void {
  const message = { role: "user" as const, content: text, timestamp: now() };
  const add = ({ log }: LiveSession) => log.append((entry) => ({ type: "message", ...entry, message }));
  editSession(location, add, options);
}

/**
 * Deletes a session's file and its record permanently. @throws the file system's error if that fails, also if the file does not
 * exist.
 */
export function removeSession({ path }: Pick<SessionInfo, "path">): void {
  unlinkSync(path);
  rmSync(sessionRecordPath(path), { force: true });
}

function editSession(
  { path, cwd }: Pick<SessionInfo, "path" | "cwd">,
  edit: (session: LiveSession) => void,
  { redactor }: SessionReadOptions = {},
): void {
  const session = continueSession({ cwd, sessionsDir: dirname(path), redactor }, readSessionFile(path));
  try {
    edit(session);
    session.writer?.sync();
  } finally {
    session.writer?.close();
  }
}

interface NoteLocation extends Pick<LiveSession, "log" | "writer" | "gate"> {
  steering: SteeringQueue;
  isRunning(): boolean;
}

/**
 * Adds a user message that needs no answer. The model reads it with the next prompt; an active run adds it before
 * its next request, since no provider accepts a message between a call and its result. Resolves once it is in the
 * session or in that queue, which may wait for another process that compacts the session.
 */
export function addNote(content: UserMessage["content"], location: NoteLocation): Promise<void> {
  const { log, gate, steering, isRunning } = location;
  return new Promise((resolve) => {
    const add = () => {
      if (isRunning()) {
        steering.add(content, { isNote: true });
      } else {
        const message: UserMessage = { role: "user", content, timestamp: now() };
        log.append((entry) => ({ type: "message", ...entry, message }));
        flushSession(location);
      }
      resolve();
    };
    if (isRunning()) add();
    else gate.pass(add, {});
  });
}
