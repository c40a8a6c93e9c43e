/**
 * The library; see README.md. More of it is in `@diligent/core/config`, `/providers`, `/sessions`, `/testing` and `/tools`,
 * which take the types that they share from here. The other entry points are cut for a quick start of diligent's own
 * program and are not published.
 */
export { computeCost } from "./agent/cost.ts";
export { agentLoop } from "./agent/loop.ts";
export type {
  AgentEvent,
  AgentLoopConfig,
  ApprovalHandle,
  Approve,
  CallAdvice,
  ChangeTracker,
  CompactionRung,
  CompactionTrigger,
  ContextCause,
  FinishedCall,
  MessageDelta,
  NoticeLevel,
  PrepareContext,
  PreparedContext,
  RequestAnswer,
  RunStopReason,
  SerializableError,
  SteeredMessage,
  SummaryValidation,
  UpcomingRequest,
  UsagePurpose,
} from "./agent/types.ts";
export type { Grant } from "./approval/grants.ts";
export { decideApproval } from "./approval/policy.ts";
export type {
  ApprovalContext,
  ApprovalGate,
  ApprovalMode,
  ApprovalVerdict,
  WidenableGrant,
} from "./approval/types.ts";
export { ConfigError, type ConfigProblem, type ConfigWarning, type TextLocation } from "./config/errors.ts";
export {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  type DiscoverOptions,
  discoverInstructions,
} from "./config/instructions.ts";
export { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "./config/loader.ts";
export { type DiligentConfig, DiligentConfigSchema } from "./config/schema.ts";
export { DEFAULT_CONFIG, mergeConfig } from "./config/settings.ts";
export {
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  type EnvironmentFacts,
  type PromptKnowledge,
  type SystemPromptSections,
} from "./config/system-prompt.ts";
export type { KnowledgeTrust, TrustState } from "./config/trust.ts";
export type { TrustedProject } from "./config/trust-store.ts";
export { EventStream } from "./event-stream.ts";
export type { CheckKind, CheckRecord, TestCounts } from "./extensions/evidence/types.ts";
export type {
  ExtensionApi,
  ExtensionHooks,
  ExtensionModule,
  ExtensionPromptAdvice,
  ExtensionTool,
} from "./extensions/modules/api.ts";
export { type Agent, type AgentOptions, type AgentReply, createAgent } from "./harness/agent.ts";
export { UsageError } from "./harness/errors.ts";
export { createHarness } from "./harness/harness.ts";
export type {
  ActionCommand,
  AskedVerdict,
  AskPerson,
  CommandEdit,
  CommandListing,
  ExtensionCommand,
  ExtensionProvider,
  ExtensionRenderer,
  GateDecision,
  Harness,
  HarnessExtension,
  HarnessOptions,
  HarnessOverrides,
  HarnessSession,
  ModelChange,
  ModelChoice,
  Notice,
  PersonAnswer,
  PromptCommand,
  PromptExpansion,
  QuestionSource,
  RenderedCall,
  SessionAddition,
  SessionChoices,
  SessionEnding,
  SessionGrants,
  SessionReference,
  SessionScope,
  SessionStart,
} from "./harness/types.ts";
export { type DiligentPaths, ensureDiligentDir, resolvePaths } from "./infrastructure/diligent-dir.ts";
export type {
  AskForHost,
  ConnectionPurpose,
  NetworkConnection,
  TrafficWatcher,
  UnseenProcess,
  WatchConnection,
} from "./infrastructure/network/connection.ts";
export type { HostAndPort } from "./infrastructure/network/host-pattern.ts";
export type { NetworkSetting } from "./infrastructure/network/network-setting.ts";
export { findProjectRoot } from "./infrastructure/paths/project.ts";
export type { OutputPiece } from "./infrastructure/process/output-file.ts";
export type { ProcessExit } from "./infrastructure/process/process.ts";
export type { CommandRest } from "./infrastructure/process/run.ts";
export type {
  CommandReturn,
  CommandTemporary,
  ProtectedAccess,
  SandboxState,
  ShellCommand,
  ShellView,
  ShellWrapper,
  WrappedCommand,
} from "./infrastructure/process/shell-wrapper.ts";
export type { Environment } from "./infrastructure/runtime.ts";
export type {
  MaskedPart,
  PlaceholderLists,
  SecretFinder,
  SecretRedactor,
  SecretValue,
} from "./infrastructure/text/secret-redactor.ts";
export type { TextContent, TextEncoding } from "./infrastructure/text/text-file.ts";
export type { Job, JobStart, JobState, JobUpdate } from "./jobs/job.ts";
export type { JobOutput } from "./jobs/job-output.ts";
export type { EarlierJob, SessionJobs } from "./jobs/session-jobs.ts";
export { buildKnowledgeSection, type KnowledgeSectionOptions } from "./knowledge/injector.ts";
export { rankKnowledge } from "./knowledge/ranker.ts";
export type { FindChangedFile } from "./knowledge/stale-files.ts";
export { appendKnowledge, readKnowledge } from "./knowledge/store.ts";
export type { GuardAppend, KnowledgeEntry, KnowledgeFile, KnowledgeType } from "./knowledge/types.ts";
export { createAnthropicStream } from "./provider/anthropic.ts";
export { createCompatibleStream } from "./provider/compatible.ts";
export { ProviderError, type ProviderErrorOptions, type ProviderErrorType } from "./provider/errors.ts";
export { type IdleWatchdogOptions, withIdleWatchdog } from "./provider/idle-watchdog.ts";
export type { ModelDefinition, ModelLimit } from "./provider/models/known-models.ts";
export { DEFAULT_MODEL, KNOWN_MODELS, resolveModel } from "./provider/models.ts";
export { classifyOpenAIError } from "./provider/openai/client.ts";
export { createOpenAIStream } from "./provider/openai.ts";
export { type RetryOptions, withRetry } from "./provider/retry.ts";
export type {
  Effort,
  Model,
  ModelFacts,
  ModelPrice,
  ProviderEvent,
  ProviderResult,
  RequestPurpose,
  RunConditions,
  StreamContext,
  StreamFunction,
  StreamOptions,
  ThinkingSupport,
} from "./provider/types.ts";
export type { LeaveOptions, SessionBranches } from "./session/branches.ts";
export type { ContextSnapshot, ContextUsage } from "./session/compaction/context-status.ts";
export type { CompactOptions, ContextOptions } from "./session/compaction/context-window.ts";
export type { CutPointResult, FileBase } from "./session/compaction/cut-point.ts";
export type { CompactionPreview, PreviewPart } from "./session/compaction/preview.ts";
export type { GenerateSummaryOptions, Summarizer } from "./session/compaction/summarize.ts";
export {
  estimateTokens,
  extractFileOperations,
  findCutPoint,
  formatFileOperations,
  generateSummary,
  shouldCompact,
} from "./session/compaction.ts";
export { buildSessionContext, type SessionContext } from "./session/context-builder.ts";
export {
  type PromptCheck,
  type RunNote,
  type RunOptions,
  SessionManager,
  type SessionManagerConfig,
} from "./session/manager.ts";
export type { NewSessionOptions, ResumeSessionOptions, SessionIds } from "./session/open.ts";
export {
  appendEntry,
  createSessionFile,
  DeferredWriter,
  listSessions,
  readSessionFile,
  SessionFileError,
} from "./session/persistence.ts";
export type { SessionFile, SessionReadOptions } from "./session/read-file.ts";
export type { RecalledEntry, RecallMatches, RecallQuery } from "./session/recall.ts";
export type { SessionTreeNode } from "./session/tree.ts";
export {
  type ArchiveEntry,
  type BranchSummaryEntry,
  type CompactionDetails,
  type CompactionEntry,
  type CompactionOutcome,
  type CompactionUndoEntry,
  type CompactionUndoOutcome,
  type CustomEntry,
  type EntryBase,
  generateEntryId,
  generateSessionId,
  type HookEntry,
  type LabelEntry,
  type ModelChangeEntry,
  type PinEntry,
  type PinnedMessages,
  type PinOutcome,
  type PrefixBreak,
  type PrefixBreakCause,
  type PruneEntry,
  type RequestEntry,
  type RequestPrefix,
  type RuleViolationEntry,
  SESSION_VERSION,
  type SessionEntry,
  type SessionHeader,
  type SessionInfo,
  type SessionInfoEntry,
  type SessionMessageEntry,
  type SessionSource,
  type SettingsEntry,
  type TaskLinkEntry,
  type TodoEntry,
  type UnknownEntry,
} from "./session/types.ts";
export type { DeferredWriterOptions } from "./session/writer.ts";
export type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  NeededApproval,
  OfferedChoice,
  PermissionRule,
  Preview,
  Redactor,
  Revise,
  RevisedCall,
  RunBudget,
  SharedRun,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool/types.ts";
export type { AddKnowledgeOptions } from "./tools/add-knowledge.ts";
export type { AskUser } from "./tools/ask-user.ts";
export type { BashToolOptions } from "./tools/bash.ts";
export { createAddKnowledgeTool, createTools, type ToolOptions } from "./tools/index.ts";
export type { JobToolOptions } from "./tools/job-tools.ts";
export type { ChangeContext, ChangeObserver } from "./tools/observe-changes.ts";
export type { FileFingerprint } from "./tools/workspace.ts";
export {
  type EditorFiles,
  type FileChange,
  type FileState,
  FileTracker,
  type Workspace,
} from "./tools/workspace.ts";
export {
  type AssistantMessage,
  type CompactionSettings,
  type ContentBlock,
  type ImageBlock,
  type Message,
  messageText,
  type OpaqueBlock,
  type ProviderReplay,
  type PruningConditions,
  promptText,
  type StopReason,
  type TextBlock,
  type ThinkingBlock,
  type TodoItem,
  type ToolCallBlock,
  type ToolCallOutcome,
  type ToolDefinition,
  type ToolResultMessage,
  toolCallsOf,
  type Usage,
  type UserMessage,
  type UserQuestion,
} from "./types.ts";
