/**
 * Session files: finding, reading, naming, deleting and writing them. Loads no schema library and no provider, so that
 * a list of sessions is shown at once.
 */
export { buildSessionContext } from "./session/context-builder.ts";
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
export { findEntryId, readCustomEntries, readLabels, readSessionSettings } from "./session/log.ts";
export { type Conversation, readConversation } from "./session/open.ts";
export {
  appendEntry,
  createSessionFile,
  DeferredWriter,
  listSessions,
  readSessionFile,
  SessionFileError,
} from "./session/persistence.ts";
export type { SessionFile, SessionReadOptions } from "./session/read-file.ts";
export { findLeafId, pathTo, type SessionTreeNode } from "./session/tree.ts";
export {
  generateEntryId,
  generateSessionId,
  SESSION_VERSION,
  type SessionEntry,
  type SessionInfo,
} from "./session/types.ts";
