export { buildSessionContext, type SessionContext } from "./context-builder.ts";
export { removeSession, renameSession } from "./edit-session.ts";
export { listUnreadableSessions, type UnreadableSession } from "./list-sessions.ts";
export {
  type CreateSessionOptions,
  type ResumeSessionOptions,
  type RunOptions,
  SessionManager,
  type SessionManagerConfig,
} from "./manager.ts";
export {
  appendEntry,
  createSessionFile,
  DeferredWriter,
  type DeferredWriterOptions,
  listSessions,
  readSessionFile,
  type SessionFile,
  SessionFileError,
} from "./persistence.ts";
export { type Conversation, readConversation } from "./read-conversation.ts";
export {
  generateEntryId,
  generateSessionId,
  type LabelEntry,
  type ModelChangeEntry,
  SESSION_VERSION,
  type SessionEntry,
  type SessionFileLine,
  type SessionHeader,
  type SessionInfo,
  type SessionInfoEntry,
  type SessionMessageEntry,
  type UnknownEntry,
} from "./types.ts";
