export type { LeaveOptions, SessionBranches } from "./branches.ts";
export type { ContextSnapshot, ContextUsage } from "./compaction/context-status.ts";
export type { CompactOptions, ContextOptions } from "./compaction/context-window.ts";
export type { CompactionSettings } from "./compaction/limits.ts";
export type { Summarizer } from "./compaction/summarize.ts";
export { buildSessionContext, type SessionContext } from "./context-builder.ts";
export { readCustomEntries, readSessionSettings } from "./log.ts";
export type { CreateSessionOptions, RunOptions, SessionManagerConfig } from "./manager.ts";
export { type ResumeSessionOptions, SessionManager } from "./manager.ts";
export { type Conversation, readConversation } from "./open.ts";
export type { RecalledEntry, RecallMatches, RecallQuery } from "./recall.ts";
export type { SessionTreeNode } from "./tree.ts";
export { findLeafId, pathTo } from "./tree.ts";
export {
  type ArchiveEntry,
  type BranchSummaryEntry,
  type CompactionDetails,
  type CompactionEntry,
  type CompactionOutcome,
  type CustomEntry,
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
  type SettingsEntry,
  type UnknownEntry,
} from "./types.ts";
