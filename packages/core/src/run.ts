/**
 * The part of the library that a conversation needs, without the providers and the configuration reader: those are
 * loaded on first use.
 */

export { agentLoop } from "./agent/loop.ts";
export { computeCost } from "./agent/run.ts";
export type {
  AgentEvent,
  AgentLoopConfig,
  ApprovalHandle,
  Approve,
  ChangeTracker,
  ContextCause,
  MessageDelta,
  NoticeLevel,
  RunStopReason,
  SerializableError,
} from "./agent/types.ts";
export { forgetSessionGrants, GrantStore, type ScopedGrant } from "./approval/grant-store.ts";
export type { Grant } from "./approval/grants.ts";
export { decideApproval, isDeniedOutright, selectOfferedTools } from "./approval/policy.ts";
export type {
  ApprovalContext,
  ApprovalGate,
  ApprovalMode,
  ApprovalVerdict,
} from "./approval/types.ts";
export { ConfigError, type ConfigWarning } from "./config/errors.ts";
export { discoverInstructions } from "./config/instructions.ts";
export { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "./config/loader.ts";
export type { DiligentConfig, PermissionRule } from "./config/schema.ts";
export {
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  type SystemPromptSections,
} from "./config/system-prompt.ts";
export { EventStream } from "./event-stream.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export { appendInputHistory, type InputHistoryEntry } from "./infrastructure/fs/input-history.ts";
export { openRequestLog, type RequestLogFile, SessionTempDir } from "./infrastructure/fs/state-files.ts";
export { readGitBranch } from "./infrastructure/paths/git.ts";
export { findProjectRoot } from "./infrastructure/paths/project.ts";
export { endAllProcesses } from "./infrastructure/process/all-processes.ts";
export { hasLostReader } from "./infrastructure/process/output-pipe.ts";
export {
  type Environment,
  homeDirectory,
  localDate,
  now,
  platformName,
  processEnvironment,
  sleep,
  utcDate,
} from "./infrastructure/runtime.ts";
export { SecretRedactor, type SecretValue } from "./infrastructure/text/secret-redactor.ts";
export { isLoopbackUrl } from "./infrastructure/urls.ts";
export type {
  GuardAppend,
  KnowledgeConfig,
  KnowledgeEntry,
  KnowledgeFile,
  KnowledgeRemoval,
  KnowledgeType,
} from "./knowledge/types.ts";
export { resolveKnowledgeConfig } from "./knowledge/types.ts";
export { describeConnectionFailure } from "./provider/classify-error.ts";
export { ProviderError, type ProviderErrorType } from "./provider/errors.ts";
export { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "./provider/idle-watchdog.ts";
export {
  DEFAULT_MODEL,
  DEFAULT_MODELS,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  loadModelCatalog,
  type ModelCatalog,
  type ModelDefinition,
  ModelSettingError,
  resolveModel,
} from "./provider/models.ts";
export { withRedaction } from "./provider/redacted-stream.ts";
export { type RequestLogEntry, withRequestLog } from "./provider/request-log.ts";
export { withRetry } from "./provider/retry.ts";
export type {
  Effort,
  Model,
  ProviderEvent,
  ProviderResult,
  StreamContext,
  StreamFunction,
  StreamOptions,
} from "./provider/types.ts";
export { describeSandbox } from "./sandbox/index.ts";
export { SessionSandbox } from "./sandbox/session-sandbox.ts";
export * from "./session/index.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  NeededApproval,
  RevisedCall,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export { type AddKnowledgeOptions, createAddKnowledgeTool, createTools } from "./tools/index.ts";
export type { Workspace } from "./tools/workspace.ts";
export { FileTracker } from "./tools/workspace.ts";
export * from "./types.ts";
