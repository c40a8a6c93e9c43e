/**
 * Session files: finding, reading, naming, deleting and writing them. Loads no schema library and no provider, so that
 * a list of sessions is shown at once.
 */
export {
  archiveSession,
  labelSessionEntry,
  notifySession,
  removeSession,
  renameSession,
} from "./session/edit-session.ts";
export {
  findInSession,
  listUnreadableSessions,
  readSessionDirectory,
  readSessionText,
  type SessionMatch,
  type SessionTextOptions,
  type UnreadableSession,
} from "./session/list.ts";
export { findEntryId, readLabels } from "./session/log.ts";
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
export type { SessionReadOptions } from "./session/read-file.ts";
export type { SessionInfo } from "./session/types.ts";
