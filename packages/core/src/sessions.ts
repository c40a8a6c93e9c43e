/**
 * The files of sessions: finding, reading, naming and removing them, and writing them by hand. Loads no schema library
 * and no provider, so that a list of sessions is there at once.
 */
export { removeSession, renameSession, tellSession } from "./session/edit-session.ts";
export { listUnreadableSessions, type UnreadableSession } from "./session/list-sessions.ts";
export {
  appendEntry,
  createSessionFile,
  DeferredWriter,
  type DeferredWriterOptions,
  listSessions,
  readSessionFile,
  type SessionFile,
  SessionFileError,
} from "./session/persistence.ts";
export { readSessionText, type SessionTextOptions } from "./session/session-text.ts";
export type { SessionInfo } from "./session/types.ts";
