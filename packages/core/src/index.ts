/**
 * The public library; see README.md. The other entry points are parts of it for a quick start of diligent's own
 * program; they are not published.
 */
export { agentLoop } from "./agent/loop.ts";
export { computeCost } from "./agent/run.ts";
export type {
  AgentEvent,
  AgentLoopConfig,
  ApprovalHandle,
  Approve,
  ChangeTracker,
  CompactionRung,
  CompactionTrigger,
  ContextCause,
  MessageDelta,
  NoticeLevel,
  PrepareContext,
  PreparedContext,
  Redactor,
  RunStopReason,
  SerializableError,
  SteeredMessage,
  SummaryValidation,
  UpcomingRequest,
  UsagePurpose,
} from "./agent/types.ts";
export { GrantStore, type ScopedGrant } from "./approval/grant-store.ts";
export type { Grant, GrantLocation } from "./approval/grants.ts";
export { decideApproval, selectOfferedTools } from "./approval/policy.ts";
export type {
  ApprovalContext,
  ApprovalGate,
  ApprovalMode,
  ApprovalVerdict,
} from "./approval/types.ts";
export type {
  CheckpointLimits,
  CheckpointOptions,
  DisplacedRef,
  Move,
  MoveProgress,
  PathVersion,
  Restoration,
  RestoredPath,
  SessionChange,
  UnlikePath,
} from "./checkpoint/types.ts";
export * from "./config/index.ts";
export { EventStream } from "./event-stream.ts";
export { type Agent, type AgentOptions, type AgentReply, createAgent } from "./harness/agent.ts";
export type { Approvals, AskedVerdict, AskPerson, CommandEdit, PersonAnswer } from "./harness/approve.ts";
export type { ComposedSession, SessionSettings, WrapStream } from "./harness/compose-session.ts";
export type {
  EarlierSession,
  HeldSession,
  SessionReference,
  SessionStart,
} from "./harness/earlier-session.ts";
export { UsageError } from "./harness/errors.ts";
export type { ExtensionCommand, GateDecision, HarnessExtension } from "./harness/extension.ts";
export type { SessionFormatter } from "./harness/find-session.ts";
export type { SandboxSummary } from "./harness/harness.ts";
export {
  createHarness,
  type Harness,
  type HarnessOptions,
  type HarnessOverrides,
  type HarnessSession,
  type SessionChoices,
} from "./harness/harness.ts";
export type { ModelChange, ModelChoice } from "./harness/models.ts";
export type {
  CheckpointPreparation,
  MoveControl,
  PreparationDeps,
  SessionCheckpoints,
  SessionCheckpointsOptions,
  UndoOptions,
} from "./harness/session-checkpoints.ts";
export type { Notice } from "./harness/session-prompt.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export type { FileFingerprint } from "./infrastructure/fs/stat.ts";
export { openRequestLog, type RequestLogFile, SessionTempDir } from "./infrastructure/fs/state-files.ts";
export { findProjectRoot } from "./infrastructure/paths/project.ts";
export { endAllProcesses } from "./infrastructure/process/all-processes.ts";
export type {
  CommandReturn,
  CommandTemporary,
  SandboxState,
  ShellCommand,
  ShellWrapper,
  WrappedCommand,
} from "./infrastructure/process/shell-wrapper.ts";
export type { Environment } from "./infrastructure/runtime.ts";
export { SecretRedactor, type SecretValue } from "./infrastructure/text/secret-redactor.ts";
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
export { createModelCatalog } from "./provider/models/catalog.ts";
export {
  type CatalogSettings,
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  type ModelCatalog,
  type ModelDefinition,
  type ModelFigures,
  type ModelLimit,
  ModelSettingError,
  resolveModel,
} from "./provider/models.ts";
export { classifyOpenAIError } from "./provider/openai/client.ts";
export { createOpenAIStream } from "./provider/openai.ts";
export { withRedaction } from "./provider/redacted-stream.ts";
export { type RequestLogEntry, withRequestLog } from "./provider/request-log.ts";
export { type RetryOptions, withRetry } from "./provider/retry.ts";
export { type Script, type ScriptTurn, scriptJsonSchema } from "./provider/scripted/script.ts";
export {
  createScriptedStream,
  parseScript,
  type Recording,
  readScript,
  type ScriptedOptions,
  scriptedModel,
  startRecording,
} from "./provider/scripted.ts";
export type {
  Effort,
  Model,
  ModelFacts,
  ModelPrice,
  ProviderEvent,
  ProviderResult,
  PruningConditions,
  RequestPurpose,
  RunConditions,
  StreamContext,
  StreamFunction,
  StreamOptions,
  ThinkingSupport,
} from "./provider/types.ts";
export { describeSandbox, type SandboxOptions, SessionSandbox } from "./sandbox/index.ts";
export * from "./session/compaction.ts";
export * from "./session/index.ts";
export * from "./sessions.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  NeededApproval,
  Preview,
  Revise,
  RevisedCall,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export { type AddKnowledgeOptions, createAddKnowledgeTool, createTools } from "./tools/index.ts";
export type { Workspace } from "./tools/workspace.ts";
export { type FileState, FileTracker } from "./tools/workspace.ts";
export * from "./types.ts";
