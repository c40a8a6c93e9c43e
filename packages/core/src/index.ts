/**
 * The library as programs other than diligent use it: see README.md. The other faces are parts of it, and of the program's
 * own needs, that are cut for a quick start; they are not published.
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
  PrepareContext,
  PreparedContext,
  RunStopReason,
  SerializableError,
  SteeredMessage,
  UpcomingRequest,
  UsagePurpose,
} from "./agent/types.ts";
export type { GrantPlace } from "./approval/grant-file.ts";
export { GrantStore, type ScopedGrant } from "./approval/grant-store.ts";
export type { Grant } from "./approval/grants.ts";
export { selectOfferedTools } from "./approval/offered-tools.ts";
export { decideApproval } from "./approval/policy.ts";
export type {
  ApprovalContext,
  ApprovalGate,
  ApprovalMode,
  ApprovalVerdict,
} from "./approval/types.ts";
export * from "./config/index.ts";
export { EventStream } from "./event-stream.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export type { Environment } from "./infrastructure/environment.ts";
export { findProjectRoot } from "./infrastructure/places/project-root.ts";
export { endAllProcesses } from "./infrastructure/processes/all-processes.ts";
export type {
  CommandBox,
  CommandReturn,
  EnclosedCommand,
  ShellBox,
  ShellCommand,
} from "./infrastructure/processes/shell-box.ts";
export type { FileFingerprint } from "./infrastructure/reading/file-fingerprint.ts";
export { openRequestLog, type RequestLogFile } from "./infrastructure/writing/request-log-file.ts";
export { SessionTempDir } from "./infrastructure/writing/session-temp-dir.ts";
export * from "./knowledge/index.ts";
export { createAnthropicStream } from "./provider/anthropic.ts";
export { createCompatibleStream } from "./provider/compatible.ts";
export { ProviderError, type ProviderErrorOptions, type ProviderErrorType } from "./provider/errors.ts";
export {
  IDLE_TIMEOUT_MS,
  type IdleWatchdogOptions,
  LOCAL_IDLE_TIMEOUT_MS,
  withIdleWatchdog,
} from "./provider/idle-watchdog.ts";
export {
  type CatalogueSettings,
  createModelCatalogue,
  type ModelFigures,
} from "./provider/model-catalogue.ts";
export {
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  type ModelCatalogue,
  type ModelDefinition,
  type ModelLimit,
  ModelSettingError,
  resolveModel,
} from "./provider/models.ts";
export { createOpenAIStream } from "./provider/openai.ts";
export { type RequestLogEntry, withRequestLog } from "./provider/request-log.ts";
export { type RetryOptions, withRetry } from "./provider/retry.ts";
export {
  createScriptedStream,
  parseScript,
  type Recording,
  readScript,
  type ScriptedOptions,
  scriptedModel,
  startRecording,
} from "./provider/scripted.ts";
export { type Script, type ScriptTurn, scriptJsonSchema } from "./provider/scripted-schema.ts";
export type {
  Effort,
  Model,
  ModelFacts,
  ModelPrice,
  ProviderEvent,
  ProviderResult,
  PruningConditions,
  RunConditions,
  StreamContext,
  StreamFunction,
  StreamOptions,
  ThinkingSupport,
} from "./provider/types.ts";
export { describeSandbox, type SandboxOptions, SessionSandbox } from "./sandbox/index.ts";
export * from "./session/index.ts";
export * from "./sessions.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  Preview,
  Revise,
  RevisedCall,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export { type FileState, FileTracker } from "./tools/file-tracker.ts";
export { type AddKnowledgeOptions, createAddKnowledgeTool, createTools } from "./tools/index.ts";
export type { Workspace } from "./tools/workspace.ts";
export * from "./types.ts";
