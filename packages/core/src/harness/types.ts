import type { AgentEvent, AgentLoopConfig, NoticeLevel } from "../agent/types.ts";
import type { Grant } from "../approval/grants.ts";
import type { ApprovalMode, ApprovalVerdict } from "../approval/types.ts";
import type { SystemPromptSections } from "../config/system-prompt.ts";
import type { CheckKind } from "../extensions/evidence/types.ts";
import type { TrafficWatcher } from "../infrastructure/network/connection.ts";
import type { NetworkSetting } from "../infrastructure/network/network-setting.ts";
import type { SandboxState } from "../infrastructure/process/shell-wrapper.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type {
  Effort,
  Model,
  RunConditions,
  StreamContext,
  StreamFunction,
  StreamOptions,
} from "../provider/types.ts";
import type { SessionManager, SessionManagerConfig } from "../session/manager.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  OfferedChoice,
  Redactor,
  Tool,
  ToolResult,
} from "../tool/types.ts";
import type { AskUser } from "../tools/ask-user.ts";
import type { ChangeObserver } from "../tools/observe-changes.ts";
import type { FileTracker } from "../tools/workspace.ts";
import type { AssistantMessage } from "../types.ts";

/** The location of a harness and the settings of its front end. */
export interface HarnessOptions {
  /** Absolute and real. */
  cwd: string;
  /** The environment variables; those of this process when left out. */
  environment?: Environment | undefined;
  overrides?: HarnessOverrides | undefined;
}

/** The settings of one front end for all its sessions; they override or extend the configuration. */
export interface HarnessOverrides {
  /** The approval mode, whatever is configured. */
  approvalMode?: ApprovalMode | undefined;
  /** The approval mode if none is configured; `deny` when left out. */
  defaultApprovalMode?: ApprovalMode | undefined;
  maxTurns?: number | undefined;
  /** US dollars. */
  maxCost?: number | undefined;
  /** What sandboxed commands reach, whatever is configured. */
  sandboxNetwork?: NetworkSetting | undefined;
  /** Tools whose calls need no approval, such as `edit`, or some of their calls, such as `bash(git log *)`. */
  allowedTools?: readonly string[] | undefined;
  /** Tools that are not available, or calls of tools that are refused. */
  disallowedTools?: readonly string[] | undefined;
  /** Directories that are treated like the project's, although they are outside of it; absolute and real. */
  addedDirectories?: readonly string[] | undefined;
  /**
   * Checks that a run has to show: it continues once where one is missing, and its `evidence` event says what still is.
   */
  requiredEvidence?: readonly CheckKind[] | undefined;
  /** Added to the end of the system prompt. */
  appendSystemPrompt?: string | undefined;
  /** False: nothing is written to the project, and the session is not saved. */
  persist?: boolean | undefined;
  /** True: every request and answer is written to a file. */
  isVerbose?: boolean | undefined;
  /** Tools in addition to the built-in ones. */
  tools?: readonly Tool[] | undefined;
  /** False: only the tools of `tools` and of extensions. */
  builtinTools?: boolean | undefined;
  extensions?: readonly HarnessExtension[] | undefined;
  /** The file in which the models' replies are recorded as a script; absolute, or relative to `cwd`. */
  record?: string | undefined;
  /**
   * Called for problems outside the conversation. `sandbox`: the message may contain text of a command, and must be
   * escaped.
   */
  warn?(message: string, topic: "approvals" | "recording" | "sandbox"): void;
}

/** How one session is opened; settings that are left out come from the configuration. */
export interface SessionChoices {
  /** An id or alias, or a custom model with its stream function. */
  model?: string | ModelChoice | undefined;
  effort?: Effort | undefined;
  /** Replaces the harness's mode. */
  approvalMode?: ApprovalMode | undefined;
  /** Asks the user; left out when no user is present. */
  ask?: AskPerson | undefined;
  /** Asks the user the model's own questions; left out when no user is present. */
  askUser?: AskUser | undefined;
  /**
   * How long a request is retried, in milliseconds from its first failure, unless `maxRetries` is configured; five minutes
   * when left out. `Infinity` suits a user who sees the retries and can stop them.
   */
  retryForMs?: number | undefined;
}

/**
 * Refers to an earlier session: the text a user enters (a number of the list, an id or its prefix, a name; for a fork,
 * `@` and the id or label of its last entry may follow), or the most recent session.
 */
export type SessionReference = string | { latest: true };

/** How a session starts: as a new one, after the last message of an earlier one, or as a fork of one. */
export type SessionStart = { fresh: true } | { resume: SessionReference } | { fork: SessionReference };

/**
 * Why a session is closed: the user began a new one (`clear`), went to another one (`resume`), left the program
 * (`prompt_input_exit`), or anything else.
 */
export type SessionEnding = "clear" | "resume" | "prompt_input_exit" | "other";

/** A session to run prompts in. The caller closes it. */
export interface HarnessSession {
  session: SessionManager;
  /** The working directory, absolute and real. */
  cwd: string;
  model: Model;
  /** The thinking level, if one was chosen. */
  effort: Effort | undefined;
  /** What the user should know before the first answer. */
  notices: Notice[];
  /** The reason why the model of an earlier session is not used, as a sentence. */
  fallback: string | undefined;
  /** The current branch, if there is one. */
  gitBranch: string | undefined;
  /** The approval mode; it may be changed at any time. */
  approval: { mode: ApprovalMode };
  /**
   * Changes the model, the thinking level or both; the next request uses them.
   * @returns the model, if it was changed.
   * @throws UsageError for a model that cannot be used; nothing has changed then.
   */
  changeModel(change: ModelChange): Promise<Model | undefined>;
  /** Saves everything and removes the session's temporary files. */
  close(): void;
}

/** Composes sessions in one directory, for any front end. */
export interface Harness {
  readonly cwd: string;
  /** The commands of all extensions; those that the program loads itself are there once a session was opened. */
  readonly commands: readonly ExtensionCommand[];
  /** @throws UsageError when the session cannot be opened: nothing was sent then. */
  openSession(start: SessionStart, choices?: SessionChoices): Promise<HarnessSession>;
  /** Writes the pending entries of every session. */
  flush(): void;
  /** Closes all open sessions and extensions, and ends their processes. */
  close(): Promise<void>;
}

/** A model and how to call it. */
export interface ModelChoice {
  model: Model;
  streamFunction: StreamFunction;
  /** From a recording: the settings of its run, which replace the configured ones. */
  conditions?: RunConditions | undefined;
}

/** Takes effect with the next request; settings that are left out stay. */
export interface ModelChange {
  /** An id or alias. */
  modelId?: string | undefined;
  effort?: AgentLoopConfig["effort"];
}

/** Asks the user about a request; the verdict says why approval is required and what "always" would allow. */
export type AskPerson = (
  request: ApprovalRequest,
  verdict: AskedVerdict,
  source: QuestionSource,
) => Promise<ApprovalResponse | PersonAnswer | CommandEdit>;

/** Where a question comes from, for front ends that match it with events. */
export interface QuestionSource {
  /** Of the `approval_request` event, which precedes the question. */
  requestId: string;
  /** The call that requires the approval, if it is known. */
  toolCallId?: string | undefined;
}

/** A verdict as shown to the user. A command that the user has edited is always shown again, whatever the verdict. */
export interface AskedVerdict extends ApprovalVerdict {
  /** The user wrote this command; the model's original command required the approval. */
  isEdited?: true | undefined;
  /** True if the arguments can no longer be changed. */
  isFixed?: true | undefined;
  /** The user's previous edit and the reason why it was rejected. */
  refusedEdit?: { command: string; why: string } | undefined;
  /** The scopes that "always" can have, the exact one first; empty if nothing can be granted. */
  choices?: readonly OfferedChoice[] | undefined;
  /** Where a shell command would run; undefined without a sandbox and for other tools. */
  runs?: "in_sandbox" | "outside_sandbox" | undefined;
  /** True for a command that can be tried first: an answer with `tries`. */
  mayTry?: true | undefined;
}

/** The user's answer. */
export interface PersonAnswer extends ApprovalDecision {
  /** Scope of an "always" answer; defaults to this session. */
  scope?: "session" | "project";
  /** Which of the offered choices an "always" answer means; defaults to exactly what was shown. */
  reach?: OfferedChoice["reach"];
}

/** The user edited the command: the new one is evaluated and shown again. */
export interface CommandEdit {
  edited: string;
}

/** A notice for the user; `code` is for programs, `message` for people. */
export interface Notice {
  level: NoticeLevel;
  code: string;
  message: string;
}

/** How a gate tightens the verdict on a request; undefined leaves it to the policy. */
export interface GateDecision {
  action: "ask" | "deny";
  /** A clause for the user and the model, such as `the file is generated`. */
  reason: string;
}

/** How a command appears in lists. */
export interface CommandListing {
  /** One word, without a slash. */
  name: string;
  /** One line for lists. */
  description: string;
  /** Shows what may follow the name, such as `[file]`. */
  argumentHint?: string | undefined;
  /** Where it comes from, such as a file or a server, if it is not part of the program. */
  source?: string | undefined;
  /** Values for what follows the name, each in place of all that has been typed of it. */
  complete?: ((typed: string) => Promise<readonly string[]>) | undefined;
}

/** A command that does something itself; the text it resolves with is shown to the user. */
export interface ActionCommand extends CommandListing {
  run(args: string): string | undefined | Promise<string | undefined>;
}

/** A command that stands for a prompt. */
export interface PromptCommand extends CommandListing {
  /**
   * What is sent to the model instead of the command.
   * @param session the session in which it was entered.
   * @throws UsageError when there is nothing to send, with a sentence for the user.
   */
  toPrompt(args: string, signal: AbortSignal, session: SessionScope): Promise<PromptExpansion>;
}

/** The prompt that a command stands for. */
export interface PromptExpansion {
  text: string;
  /** Paths in the text, as written: the files are attached if they are in the project and hold no secrets. */
  mentions?: readonly string[] | undefined;
  /** The model that should answer, as written; ignored if there is none of this name. */
  model?: string | undefined;
}

/** A command that front ends offer by its name. */
export type ExtensionCommand = ActionCommand | PromptCommand;

/** What the user has allowed for good. */
export interface SessionGrants {
  list(): Promise<readonly Grant[]>;
  /** Applies from now on and when the session is resumed. @throws Error if it cannot be saved. */
  addForSession(grants: readonly Grant[]): Promise<void>;
  /** Applies in later sessions of the project, too. @throws Error if it cannot be saved. */
  addForProject(grants: readonly Grant[]): Promise<void>;
}

/** A session as its extensions see it. */
export interface SessionScope {
  sessionId: string;
  /** How it began; `clear`: as a new one in place of another one of the same program. */
  beginning: "startup" | "resume" | "fork" | "clear";
  /** Absolute and real. */
  cwd: string;
  /** The root of the project, absolute and real. */
  root: string;
  environment: Environment;
  /** In tokens, at the opening. */
  contextWindow: number;
  /** True if a user is present who can be asked. */
  isAttended: boolean;
  redactor: Redactor;
  /** Asks the user; left out when no user is present. */
  askUser?: AskUser | undefined;
  /** What the user has allowed for good; left out in sessions of sub-agents, which allow nothing themselves. */
  grants?: SessionGrants | undefined;
  /** The session's private temporary directory, which the model may read; undefined if it cannot be created. */
  outputDirectory(): string | undefined;
  /** What the session's tools know about files. */
  files: FileTracker;
  /** Receives its connections; left out where they are not recorded. */
  traffic?: TrafficWatcher | undefined;
  /** How its commands run; undefined without a sandbox. */
  sandboxState?: (() => Promise<SandboxState>) | undefined;
  /** Its commands in the background. */
  jobs: SessionJobs;
  /** The sub-agent whose session it is, and how many sessions are above it; undefined for a session of the user. */
  agent?: { name: string; depth: number } | undefined;
  /** The model of the next request. */
  model(): Model;
  mode(): ApprovalMode;
  /** The parts of the current system prompt. */
  promptParts(): SystemPromptSections;
  /** Undefined while the session is being opened. */
  session(): SessionManager | undefined;
  /**
   * Makes a request to the session's model outside the conversation; its cost counts for the session. Left out where a
   * run's cost is limited, because such a request would not be part of a run. The promise rejects with a ProviderError.
   */
  request?:
    | ((
        context: StreamContext,
        options: Required<Pick<StreamOptions, "maxTokens" | "signal">>,
      ) => Promise<AssistantMessage>)
    | undefined;
  /**
   * Runs a shell command as the model's `bash` does, with the same approval, sandbox and limits, and returns what it
   * printed.
   * @throws RefusedCommandError if it was not allowed to run.
   */
  runCommand(command: string, signal: AbortSignal): Promise<string>;
}

/** How the calls of one tool are shown on the screen, each on one line. What throws is not used. */
export interface ExtensionRenderer {
  /** The request, after the tool's name. */
  title?(call: RenderedCall): string;
  /** The outcome in a few words, once the call is done. */
  summary?(call: RenderedCall): string;
}

/** A call that is shown; `output` is empty until it is done. */
export interface RenderedCall {
  input: Readonly<Record<string, unknown>>;
  output: string;
}

/** Models that an extension adds, which are chosen as `NAME/MODEL`. */
export interface ExtensionProvider {
  name: string;
  /** `provider` of each is `name`. */
  models: readonly Model[];
  /** Sends a request to one of them; see `StreamFunction`. */
  stream: StreamFunction;
}

/** What an extension adds to one session; it holds as long as the session is open. */
export interface SessionAddition {
  /** Offered to the model after the built-in ones and those of the extension. */
  tools?: readonly Tool[] | undefined;
  /** A section of the system prompt. */
  promptSection?: string | undefined;
  /** What the user should know before the first answer. */
  notices?: readonly Notice[] | undefined;
  /** Receives every event of every run of the session, in order. It must not block. */
  onEvent?(event: AgentEvent): void;
  /**
   * Looks at an answer that would end a run; see `AgentLoopConfig`. If it rejects, the answer stays the last one, and the
   * reason is reported.
   */
  reviewAnswer?(answer: string, signal: AbortSignal): Promise<string | undefined>;
  /** See `AgentLoopConfig`. */
  beforeCall?: AgentLoopConfig["beforeCall"];
  /** See `AgentLoopConfig`. */
  afterCall?: AgentLoopConfig["afterCall"];
  /**
   * Called when a call of a file tool has changed files, after the formatters; what it resolves with is added to the
   * result. The result waits for it.
   */
  afterFileChanges?: ChangeObserver;
  /** See `AgentLoopConfig`. */
  answerRequest?: AgentLoopConfig["answerRequest"];
  /** See `SessionManagerConfig`. */
  checkPrompt?: SessionManagerConfig["checkPrompt"];
  /** Wraps every model request of the session, those outside of its conversation too. */
  wrapRequests?(stream: StreamFunction): StreamFunction;
  /** Called once, when the session is closed. */
  close?(ending: SessionEnding): void;
}

/** An addition to every session of a harness. */
export interface HarnessExtension {
  /** Identifies it in messages; unique in a harness. */
  name: string;
  /** Offered to the model after the built-in ones. */
  tools?: readonly Tool[];
  /** A section of the system prompt. It must not change while a session is open, so that provider caches hit. */
  promptSection?: string;
  commands?: readonly ExtensionCommand[];
  providers?: readonly ExtensionProvider[];
  /** By the name of the tool; those of built-in tools are not used. */
  renderers?: ReadonlyMap<string, ExtensionRenderer>;
  /** Names of commands of the project that cannot be used because the user has not trusted them. */
  untrustedCommands?: readonly string[];
  /**
   * Called for each request before the policy's verdict applies; it can only tighten that verdict. If it throws, the
   * call is refused.
   */
  gate?(request: ApprovalRequest): GateDecision | undefined | Promise<GateDecision | undefined>;
  /** Called for each session while it is being opened, before its system prompt is composed. */
  openSession?(scope: SessionScope): SessionAddition | Promise<SessionAddition>;
  /**
   * Reads what a prompt mentions after `@`; undefined for what is not this extension's.
   * @throws Error with a clause for the user.
   */
  readMention?(mention: string, signal: AbortSignal): Promise<ToolResult | undefined>;
  /** What can be mentioned, for completion. */
  listMentions?(): readonly string[];
  /** Receives every event of every run, in order. It must not block. */
  onEvent?(event: AgentEvent): void;
  /** Resolves when what the closing of sessions has started is done; it is awaited for a moment at the end. */
  settle?(): Promise<void>;
  /** Called once, when the harness is closed. */
  close(): void | Promise<void>;
}
