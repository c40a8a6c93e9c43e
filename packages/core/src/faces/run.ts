/**
 * The part of the library that a conversation needs, without the providers and the configuration reader: those are
 * loaded on first use.
 */
export { computeCost } from "../agent/cost.ts";
export type {
  AgentEvent,
  MessageDelta,
  NoticeLevel,
  RunStopReason,
  SerializableError,
} from "../agent/types.ts";
export { forgetSessionGrants, GrantStore, type ScopedGrant } from "../approval/grant-store.ts";
export type { Grant } from "../approval/grants.ts";
export { decideApproval } from "../approval/policy.ts";
export type { ApprovalMode, ApprovalVerdict } from "../approval/types.ts";
export { ConfigError } from "../config/errors.ts";
export { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "../config/loader.ts";
export type { DiligentConfig, PermissionRule } from "../config/schema.ts";
export type { CheckKind, CheckRecord } from "../extensions/evidence/types.ts";
export { readPlaceholderLists } from "../extensions/secrets/mask-reporter.ts";
export type { ExtensionRenderer } from "../harness/types.ts";
export { resolvePaths } from "../infrastructure/diligent-dir.ts";
export { appendInputHistory, type InputHistoryEntry } from "../infrastructure/fs/input-history.ts";
export { SessionTempDir } from "../infrastructure/fs/state-files.ts";
export type { ConnectionPurpose, WatchConnection } from "../infrastructure/network/connection.ts";
export { limitHosts } from "../infrastructure/network/host-limit.ts";
export { type NetworkSetting, parseNetworkSetting } from "../infrastructure/network/network-setting.ts";
export { findProjectRoot } from "../infrastructure/paths/project.ts";
export { hasLostReader } from "../infrastructure/process/output-pipe.ts";
export { type Environment, homeDirectory, now, sleep } from "../infrastructure/runtime.ts";
export { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
export { isLoopbackUrl } from "../infrastructure/urls.ts";
export type { Job, JobStart, JobState, JobUpdate } from "../jobs/job.ts";
export type { JobOutput } from "../jobs/job-output.ts";
export { SessionJobs } from "../jobs/session-jobs.ts";
export type { ReviewItem } from "../knowledge/review.ts";
export type { KnowledgeEntry } from "../knowledge/types.ts";
export type { KnowledgeUse } from "../knowledge/uses.ts";
export { describeConnectionFailure } from "../provider/classify-error.ts";
export { ProviderError } from "../provider/errors.ts";
export {
  DEFAULT_MODEL,
  DEFAULT_MODELS,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  type ModelCatalog,
  type ModelDefinition,
} from "../provider/models.ts";
export type { Effort, Model, ProviderEvent, StreamFunction } from "../provider/types.ts";
export { findWebSearches, isWebSearchBlock } from "../provider/web-search.ts";
export { SessionSandbox } from "../sandbox/session-sandbox.ts";
export type { SessionBranches } from "../session/branches.ts";
export type { ContextUsage } from "../session/compaction/context-status.ts";
export type { CompactionPreview } from "../session/compaction/preview.ts";
export { buildSessionContext } from "../session/context-builder.ts";
export { SessionManager } from "../session/manager.ts";
export {
  type NetworkRecord,
  type NetworkRecords,
  readNetworkRecords,
  type UnseenRecord,
} from "../session/network-records.ts";
export { readConversation } from "../session/open.ts";
export { findLeafId, pathTo, type SessionTreeNode } from "../session/tree.ts";
export {
  type CompactionEntry,
  generateEntryId,
  isConversationEntry,
  type RequestEntry,
  SESSION_VERSION,
  type SessionEntry,
  type SessionHeader,
  type SessionInfo,
  type SessionMessageEntry,
} from "../session/types.ts";
export type { ApprovalRequest, NeededApproval, Tool, ToolResult } from "../tool/types.ts";
export { createTools } from "../tools/index.ts";
export { FileTracker } from "../tools/workspace.ts";
export {
  type AssistantMessage,
  addUsage,
  assertNever,
  type ContentBlock,
  EMPTY_USAGE,
  formatTodos,
  type Message,
  messageText,
  promptText,
  type TodoItem,
  type ToolCallOutcome,
  type ToolResultMessage,
  toolCallsOf,
  type Usage,
  type UserMessage,
} from "../types.ts";
