export type { SessionTreeNode } from "./build-session-tree.ts";
export type { ContextGlance } from "./context/context-glance.ts";
export type {
  CompactionOutcome,
  CompactOptions,
  ContextOptions,
  Summarizer,
} from "./context/context-guard.ts";
export type { ContextCause, ContextUsage } from "./context/context-usage.ts";
export type { CompactionSettings } from "./context/settings.ts";
export { buildSessionContext, type SessionContext } from "./context-builder.ts";
export { type ResumeSessionOptions, SessionManager } from "./manager.ts";
export type { CreateSessionOptions, RunOptions, SessionManagerConfig } from "./manager-config.ts";
export { type Conversation, readConversation } from "./read-conversation.ts";
export type { LeaveOptions, SessionBranches } from "./session-branches.ts";
export { findLeafId, pathTo } from "./session-tree.ts";
export {
  type BranchSummaryEntry,
  type CompactionDetails,
  type CompactionEntry,
  type EntryBase,
  generateEntryId,
  generateSessionId,
  type LabelEntry,
  type ModelChangeEntry,
  type PruneEntry,
  SESSION_VERSION,
  type SessionEntry,
  type SessionFileLine,
  type SessionHeader,
  type SessionInfo,
  type SessionInfoEntry,
  type SessionMessageEntry,
  type UnknownEntry,
} from "./types.ts";
