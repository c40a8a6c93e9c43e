export { agentLoop } from "./agent/loop.ts";
export type {
  AgentEvent,
  AgentLoopConfig,
  Approve,
  MessageDelta,
  NoticeLevel,
  RunStopReason,
  SerializableError,
} from "./agent/types.ts";
export {
  type ApprovalContext,
  type ApprovalGate,
  type ApprovalVerdict,
  decideApproval,
} from "./approval/policy.ts";
export * from "./config/index.ts";
export { EventStream } from "./event-stream.ts";
export { localDate, now, sleep } from "./infrastructure/clock.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export {
  type Environment,
  homeDirectory,
  platformName,
  processEnvironment,
} from "./infrastructure/environment.ts";
export { readGitBranch } from "./infrastructure/git-head.ts";
export { endAllProcesses } from "./infrastructure/process.ts";
export { findProjectRoot } from "./infrastructure/project-root.ts";
export { SessionTempDir } from "./infrastructure/session-temp-dir.ts";
export { createAnthropicStream } from "./provider/anthropic.ts";
export { ProviderError, type ProviderErrorType } from "./provider/errors.ts";
export { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "./provider/idle-watchdog.ts";
export {
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  type ModelDefinition,
  resolveModel,
} from "./provider/models.ts";
export { withRetry } from "./provider/retry.ts";
export { createScriptedStream, parseScript, readScript, scriptedModel } from "./provider/scripted.ts";
export { type Script, type ScriptTurn, scriptJsonSchema } from "./provider/scripted-schema.ts";
export type {
  Effort,
  Model,
  ProviderEvent,
  ProviderResult,
  StreamContext,
  StreamFunction,
  StreamOptions,
} from "./provider/types.ts";
export { buildSessionContext, type SessionContext } from "./session/context-builder.ts";
export { DeferredWriter } from "./session/deferred-writer.ts";
export { removeSession, renameSession } from "./session/edit-session.ts";
export { listSessions } from "./session/list-sessions.ts";
export {
  type CreateSessionOptions,
  type ResumeSessionOptions,
  SessionManager,
  type SessionManagerConfig,
} from "./session/manager.ts";
export { type Conversation, readConversation } from "./session/read-conversation.ts";
export { readSessionFile, type SessionFile, SessionFileError } from "./session/read-session-file.ts";
export {
  generateEntryId,
  generateSessionId,
  type ModelChangeEntry,
  SESSION_VERSION,
  type SessionEntry,
  type SessionFileLine,
  type SessionHeader,
  type SessionInfo,
  type SessionInfoEntry,
  type SessionMessageEntry,
} from "./session/types.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export { FileTracker } from "./tools/file-tracker.ts";
export { createTools } from "./tools/index.ts";
export type { Workspace } from "./tools/workspace.ts";
export * from "./types.ts";
