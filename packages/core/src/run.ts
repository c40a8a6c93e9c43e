/**
 * The part of the library that a conversation needs, without the providers and without what reads configuration
 * files: those are loaded when they are used.
 */
export { computeCost } from "./agent/cost.ts";
export { agentLoop } from "./agent/loop.ts";
export type {
  AgentEvent,
  AgentLoopConfig,
  Approve,
  Asking,
  ChangeKeeper,
  MessageDelta,
  NoticeLevel,
  RunStopReason,
  SerializableError,
} from "./agent/types.ts";
export { GrantStore, type ScopedGrant } from "./approval/grant-store.ts";
export type { Grant } from "./approval/grants.ts";
export { selectOfferedTools } from "./approval/offered-tools.ts";
export { isDeniedOutright } from "./approval/outright-rules.ts";
export { decideApproval } from "./approval/policy.ts";
export type {
  ApprovalContext,
  ApprovalGate,
  ApprovalMode,
  ApprovalVerdict,
} from "./approval/types.ts";
export { ConfigError, type ConfigWarning } from "./config/config-error.ts";
export { discoverInstructions } from "./config/instructions.ts";
export { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "./config/loader.ts";
export type { DiligentConfig, PermissionRule } from "./config/schema.ts";
export { BASE_SYSTEM_PROMPT, composeSystemPrompt, type SystemPromptParts } from "./config/system-prompt.ts";
export { EventStream } from "./event-stream.ts";
export { localDate, now, sleep, utcDate } from "./infrastructure/clock.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export {
  type Environment,
  homeDirectory,
  platformName,
  processEnvironment,
} from "./infrastructure/environment.ts";
export { isLoopbackUrl } from "./infrastructure/loopback-url.ts";
export { readGitBranch } from "./infrastructure/places/git-head.ts";
export { findProjectRoot } from "./infrastructure/places/project-root.ts";
export { endAllProcesses } from "./infrastructure/processes/all-processes.ts";
export { hasLostReader } from "./infrastructure/processes/lost-reader.ts";
export { appendInputHistory, type InputHistoryEntry } from "./infrastructure/writing/input-history.ts";
export { openRequestLog, type RequestLogFile } from "./infrastructure/writing/request-log-file.ts";
export { SessionTempDir } from "./infrastructure/writing/session-temp-dir.ts";
export { resolveKnowledgeConfig } from "./knowledge/knowledge-config.ts";
export type {
  KnowledgeConfig,
  KnowledgeEntry,
  KnowledgeFile,
  KnowledgeRemoval,
  KnowledgeType,
} from "./knowledge/types.ts";
export { ProviderError, type ProviderErrorType } from "./provider/errors.ts";
export { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "./provider/idle-watchdog.ts";
export {
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  loadModelCatalogue,
  type ModelCatalogue,
  type ModelDefinition,
  ModelSettingError,
  resolveModel,
} from "./provider/models.ts";
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
export { describeSandbox } from "./sandbox/describe-sandbox.ts";
export { SessionSandbox } from "./sandbox/session-sandbox.ts";
export * from "./session/index.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  RevisedCall,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export { FileTracker } from "./tools/file-tracker.ts";
export { type AddKnowledgeOptions, createAddKnowledgeTool, createTools } from "./tools/index.ts";
export type { Workspace } from "./tools/workspace.ts";
export * from "./types.ts";
