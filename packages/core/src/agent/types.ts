import type { CheckKind, CheckRecord } from "../extensions/evidence/types.ts";
import type {
  Effort,
  Model,
  ProviderError,
  RequestPurpose,
  StreamContext,
  StreamFunction,
} from "../provider/types.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  NeededApproval,
  OfferedChoice,
  Preview,
  Redactor,
  Revise,
  RunBudget,
  Tool,
} from "../tool/types.ts";
import type {
  AssistantMessage,
  Message,
  TodoItem,
  ToolCallOutcome,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../types.ts";

export type { Redactor };

/** An error as events and files carry it. `errorType` is the kind of a ProviderError. */
export interface SerializableError {
  /** One line for the user. */
  message: string;
  /** The name of the error's class. */
  name: string;
  /** The stack of a bug. */
  stack?: string;
  errorType?: string;
}

/** A piece of a reply: text, thinking, or the JSON of the arguments of the call `id`. */
export type MessageDelta =
  | { type: "text_delta"; delta: string }
  | { type: "thinking_delta"; delta: string }
  | { type: "tool_call_delta"; id: string; delta: string };

/** Why a run ended. */
export type RunStopReason =
  | "end_turn"
  | "max_tokens"
  | "refusal"
  | "max_turns"
  | "max_cost"
  | "loop"
  | "approval"
  | "error"
  | "aborted";

/** The severity of a notice: information, a problem that was handled, a failure. */
export type NoticeLevel = "info" | "warning" | "error";

/** The purpose of a request outside the conversation. */
export type UsagePurpose = RequestPurpose;

/** The category of a part of a request. */
export type ContextCause = "systemPrompt" | "tools" | "summary" | "user" | "assistant" | "toolResults";

/**
 * Why a conversation is summarized: it is close to the limit, the provider refused it as too long, or the user
 * asked.
 */
export type CompactionTrigger = "threshold" | "overflow" | "manual";

/**
 * Who wrote a summary: the model that is configured for summaries, the session's own model, or the fallback without
 * a model.
 */
export type CompactionRung = "model" | "session_model" | "program";

/** The quality of a summary that is used. */
export interface SummaryValidation {
  characters: number;
  /** True when the summary has more than 8,000 characters. */
  isLong: boolean;
  /** File names and identifiers of the summarized messages that a model's summary was checked for. */
  keywords: string[];
  /** Those missing from the summary in any spelling. */
  missingKeywords: string[];
  /** Why no model gave a usable summary; set when the fallback was used. */
  failure?: string;
}

/** A user message that joins a running conversation. */
export interface SteeredMessage {
  message: UserMessage;
  /** The id by which its `steering` event names it. */
  id: string;
  /** It reports something that has already happened, such as a command the user ran. */
  isNote?: boolean;
}

/**
 * Everything that happens in a run. Events with the same `itemId`, which is unique in a session like `turnId`, belong to one
 * item, which starts with `_start`, grows with `_delta` or `_update` and ends with `_end`. A second `message_start`
 * with the same `itemId` means that the request was retried and the item restarts.
 */
export type AgentEvent =
  | { type: "agent_start" }
  /** `messages` are those this run added, oldest first. */
  | { type: "agent_end"; messages: Message[]; stopReason: RunStopReason; error?: SerializableError }
  | { type: "turn_start"; turnId: string }
  | { type: "turn_end"; turnId: string; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; itemId: string; message: AssistantMessage }
  | { type: "message_delta"; itemId: string; message: AssistantMessage; delta: MessageDelta }
  | { type: "message_end"; itemId: string; message: AssistantMessage }
  | { type: "tool_start"; itemId: string; toolCallId: string; toolName: string; input: unknown }
  | {
      type: "tool_update";
      itemId: string;
      toolCallId: string;
      toolName: string;
      partialResult: string;
      /**
       * Set when the call runs with arguments other than those of its `tool_start`, because the user changed them.
       */
      input?: Record<string, unknown>;
    }
  | {
      type: "tool_end";
      itemId: string;
      toolCallId: string;
      toolName: string;
      output: string;
      isError: boolean;
      /** Set when `isError` is true. */
      outcome?: ToolCallOutcome;
      /** The arguments that it ran with, if the user changed them. */
      input?: Record<string, unknown>;
      metadata?: Record<string, unknown>;
    }
  | { type: "status_change"; status: "idle" | "busy" | "retry"; retry?: { attempt: number; delayMs: number } }
  /**
   * One request's usage; `cost` is in US dollars, null when the model's price is unknown. A request with a `purpose` is
   * not part of the conversation, so its usage says nothing about the conversation's size.
   */
  | { type: "usage"; usage: Usage; cost: number | null; purpose?: UsagePurpose }
  | { type: "error"; error: SerializableError; fatal: boolean }
  | { type: "notice"; level: NoticeLevel; code: string; message: string }
  /** A user message that joined the running conversation; see `SteeredMessage`. */
  | { type: "steering"; text: string; id?: string; isNote?: true }
  /** A command in the background; `exitCode` is left out while it runs, and where a signal ended it. */
  | {
      type: "job_update";
      id: string;
      state: "running" | "ended" | "killed";
      command: string;
      exitCode?: number;
    }
  /** Old tool results were shortened in what the model sees; both counts are tokens of the next request. */
  | { type: "prune"; entryIds: string[]; tokensBefore: number; tokensAfter: number }
  /** The conversation is being summarized. */
  | {
      type: "compaction_start";
      /** The estimated size of the next request, in tokens. */
      estimatedTokens: number;
      trigger: CompactionTrigger;
      /** What the user wants the summary to emphasize. */
      focus?: string | undefined;
      /** Entries of the session that the summary replaces, oldest first. */
      cutEntryIds: string[];
      /** Entries that are kept verbatim. */
      keptEntryIds: string[];
      /** Estimates that add up to `estimatedTokens`. */
      tokensByCause: Record<ContextCause, number>;
    }
  | {
      type: "compaction_end";
      /** Tokens of the next request. */
      tokensBefore: number;
      tokensAfter: number;
      /** The beginning of the summary. */
      summary: string;
      durationMs: number;
      rung: CompactionRung;
      validation: SummaryValidation;
    }
  /**
   * An event of a run that a call of this one has started; `agentId` is the id of its session, `agent` the sub-agent's
   * name. Approvals are not among them: they are requested of the user in this run.
   */
  | { type: "agent_event"; agentId: string; agent: string; parentToolCallId: string; event: AgentEvent }
  /** A connection of the program or of a sandboxed process has ended, or was refused. */
  | {
      type: "network";
      host: string;
      port: number;
      allowed: boolean;
      /** What allowed or refused it, a clause. */
      by: string;
      /** In both directions; for the program's own requests, those of the bodies. */
      bytes: number;
      /** The part of `bytes` that was sent, where it is known. */
      bytesSent?: number;
      purpose: "command" | "provider" | "web_fetch" | "mcp" | "hook" | "update" | "language_server";
      /** Why an allowed connection came to nothing, a clause. */
      problem?: string;
      /** The command line, as far as it is known; for a server, its name. */
      command?: string;
    }
  /** A hook of the user or the project has run. */
  | {
      type: "hook";
      event: string;
      /** Its command or address. */
      command: string;
      durationMs: number;
      outcome: "ok" | "blocked" | "failed" | "timeout";
      /** Why it failed, a clause. */
      problem?: string;
    }
  /** A call, or the end of a turn, was refused because a rule forbids it. */
  | {
      type: "rule_violation";
      /** The sentence. */
      rule: string;
      /** The path of its file, relative to the project or beginning with `~/`, or `configuration`. */
      source: string;
      /** From 1; 0 in the configuration. */
      line: number;
      /** By which the user can switch it off. */
      name: string;
    }
  /** Secrets were masked that this session had not masked before. */
  | { type: "masked"; count: number; kinds: string[] }
  /** The model's checklist, all of it; empty when it is removed. */
  | { type: "todo"; todos: TodoItem[] }
  /** A server of the Model Context Protocol has changed its state. */
  | {
      type: "mcp_server";
      name: string;
      state: "idle" | "connecting" | "ready" | "failed";
      /** The number of its tools, once it is ready. */
      tools?: number;
      /** Why it cannot be used, a sentence. */
      error?: string;
    }
  /** What was checked in this turn, and what the answer claims without it; see `EvidenceReport`. */
  | {
      type: "evidence";
      checks: CheckRecord[];
      missing: CheckKind[];
      unsupported: string[];
      lacking?: string[];
    }
  | { type: "knowledge_saved"; knowledgeId: string; content: string }
  /**
   * The user is being asked, or the request was refused. `gate` names the rule that applies, `mode` the approval mode.
   */
  | {
      type: "approval_request";
      requestId: string;
      request: ApprovalRequest;
      /** The call that requires the approval, if it is one of this run. */
      toolCallId?: string;
      gate: string;
      mode?: string;
      /** Set when nobody could be asked. */
      needed?: NeededApproval;
      /** The sub-agent whose call it is, as in `agent_event`. */
      agentId?: string;
      parentToolCallId?: string;
      /** What "always" can mean; left out when nothing can be granted. */
      choices?: readonly OfferedChoice[];
    };

/** The context of one approval decision. */
export interface ApprovalHandle {
  /**
   * Notifies the run's observers that the user is being asked, or that the request was refused; `shown` when more
   * is shown than was requested, `mode` when the policy has modes, `needed` when nobody can be asked,
   * `choices` when the user may allow more than this call.
   * @returns the `requestId` of the event.
   */
  announce(
    gate: string,
    about?: {
      shown?: ApprovalRequest;
      mode?: string;
      needed?: NeededApproval | undefined;
      choices?: readonly OfferedChoice[];
    },
  ): string;
  /** The call that requires the approval, if it is one of this run. */
  toolCallId?: string | undefined;
  /** A preview of the call's changes, for the user who is asked. */
  preview?: Preview | undefined;
  /**
   * Set to ask whether the run continues after so many identical calls in a row with the same result, whatever the
   * policy says of such calls. Without anybody to ask the answer is no.
   */
  repeats?: number | undefined;
  /** Replaces the call's arguments by those the user prefers; left out once the call has started. */
  revise?: Revise | undefined;
  /** What was decided about the call before the policy is asked; `allow` answers what would only be asked about. */
  advice?: CallAdvice["verdict"] | undefined;
  /** Asks what may answer in place of the user; see `AgentLoopConfig.answerRequest`. */
  consult?: (() => Promise<RequestAnswer | undefined>) | undefined;
}

/** A call as it runs. */
export interface FinishedCall {
  toolCallId: string;
  toolName: string;
  input: Record<string, unknown>;
}

/** What `AgentLoopConfig.beforeCall` decides about a call. */
export interface CallAdvice {
  /** Refuses it: the reason, for the model. */
  refusal?: string | undefined;
  /** The arguments to run it with, which are validated and decided about like the model's own. */
  input?: Record<string, unknown> | undefined;
  /** `reason` is a clause for the user. */
  verdict?: { action: "allow" | "ask"; reason: string } | undefined;
}

/** What answers a request in place of the user. */
export interface RequestAnswer {
  action: "allow" | "deny";
  /** For the model and the user. */
  reason: string;
  /** The arguments to run the call with, which are decided about again. */
  input?: Record<string, unknown> | undefined;
  /** For `deny`: the run ends. */
  endTurn?: boolean | undefined;
}

/** Decides about one request. */
export type Approve = (
  request: ApprovalRequest,
  handle: ApprovalHandle,
) => Promise<ApprovalResponse | ApprovalDecision>;

/** A model request that is about to be made, as passed to the context manager. */
export interface UpcomingRequest {
  /** Its size if nothing is done. */
  context: StreamContext;
  /** Set when the same request was refused as too long: it has to become shorter. */
  overflow?: ProviderError | undefined;
  signal: AbortSignal;
  /** Notifies the run's observers of the preparation's progress. */
  emit(event: AgentEvent): void;
  /** Adds the usage of an additional request, such as one for a summary, to the run's cost. */
  countUsage(usage: Usage, model: Model, purpose: UsagePurpose): void;
  /** Holds additional requests to the run's cost limit; see `limitRequests`. */
  limit?: ((streamFunction: StreamFunction) => StreamFunction) | undefined;
}

/** The content of the following requests; it replaces the messages that the run has collected. */
export interface PreparedContext {
  messages: readonly Message[];
  /** The system prompt from now on; unchanged when left out. */
  systemPrompt?: string | undefined;
}

/**
 * Prepares the context before every model request. Returns undefined when the context stays as it is or, after an
 * overflow, could not be shortened. An error that it throws ends the run; once `signal` is aborted it returns undefined
 * instead.
 */
export type PrepareContext = (request: UpcomingRequest) => Promise<PreparedContext | undefined>;

/**
 * Records what calls are about to change, so that it can be undone. Nothing here rejects: a failed recording never
 * blocks a call.
 */
export interface ChangeTracker {
  /**
   * Awaited before an allowed call runs, unless the call is known to be read-only.
   * @param change `isFirst`: the first such call of the run. `notify` notifies the run's observers. `writes`: the
   * path, as the model gave it, if the call changes only that file.
   */
  beforeChanges(change: {
    isFirst: boolean;
    notify(level: NoticeLevel, code: string, message: string): void;
    writes?: string | undefined;
  }): Promise<void>;
  /** Called when the call has ended; the resulting work continues in parallel with the run. */
  afterChanges(): void;
  /** How many times files have changed so far, once everything is recorded; undefined if that is not known. */
  countChanges?(): Promise<number | undefined>;
  /** Awaited at the end of the run: resolves when everything is recorded. */
  settled(): Promise<void>;
}

/** The inputs of a run. The loop reads no disk, screen or environment: everything is passed in here. */
export interface AgentLoopConfig {
  /** The model; its price gives the costs, its window is only used by `prepareContext`. */
  model: Model;
  /** Precedes every request, unchanged, unless `prepareContext` returns another. */
  systemPrompt: string;
  /** The tools the model may call, in the order in which they are described to it; names are unique. */
  tools: readonly Tool[];
  /** Makes one model request; retries are a wrapper around it. */
  streamFunction: StreamFunction;
  /** When aborted, the run ends with stop reason `aborted` as soon as running calls have stopped. */
  signal?: AbortSignal | undefined;
  /** Model replies, each with its tool results; unlimited when left out. */
  maxTurns?: number | undefined;
  /** US dollars; once reached, no further call is run and no further request is made. */
  maxCost?: number | undefined;
  /** The turns and cost of a run whose call starts this one; replaces `maxCost`. */
  budget?: RunBudget | undefined;
  /** Passed to the stream function, for the retry wrapper. */
  maxRetries?: number | undefined;
  /** Passed to the stream function, for the retry wrapper; milliseconds. */
  retryForMs?: number | undefined;
  /** How hard the model thinks; the provider's default when left out. */
  effort?: Effort | undefined;
  /** Passed to the stream function, so that a provider can route a session's requests to one cache. */
  sessionId?: string | undefined;
  /** Part of every `itemId`, `turnId` and `requestId`, which are unique among runs that have different ones. */
  runId?: string | undefined;
  /** Every request is answered with "once" when left out. */
  approve?: Approve | undefined;
  /** Called with each finished message, tool results and steering included, before the event that shows it. */
  record?: ((message: Message) => void) | undefined;
  /** Called for each valid call before it is decided about. Never rejects. */
  beforeCall?: ((call: FinishedCall, signal: AbortSignal) => Promise<CallAdvice | undefined>) | undefined;
  /**
   * Called with each request that the user would be asked about, or that is refused because nobody is asked; undefined
   * leaves it to the user. Never rejects.
   */
  answerRequest?:
    | ((request: FinishedCall, signal: AbortSignal) => Promise<RequestAnswer | undefined>)
    | undefined;
  /** Called when a call has ended; resolves with a note for the model, which follows the result. Never rejects. */
  afterCall?:
    | ((
        call: FinishedCall & { output: string; isError: boolean },
        signal: AbortSignal,
      ) => Promise<string | undefined>)
    | undefined;
  /** Keeps the context within the model's window; without it a request that is too long ends the run. */
  prepareContext?: PrepareContext | undefined;
  /**
   * A note for the model after the last result of a turn; requested once for each turn with calls, before that result
   * is recorded.
   */
  remind?: (() => string | undefined) | undefined;
  /**
   * Notes for the model about what has happened beside the conversation, such as the end of a job; fetched before each
   * request. They never cause one.
   */
  takeNotes?: (() => string[]) | undefined;
  /**
   * Looks at an answer that would end the run. With a text for the model, which joins the conversation as a note, the run
   * continues. It never rejects.
   */
  reviewAnswer?: ((answer: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Messages the user sent during the run; fetched between turns. */
  takeSteering?: (() => (UserMessage | SteeredMessage)[]) | undefined;
  /** Records what calls change, so that it can be undone; nothing is recorded when left out. */
  changes?: ChangeTracker | undefined;
  /** Saves an output that is truncated for the model. */
  keepOutput?: KeepOutput | undefined;
  /** Redacts secrets in what tools return; a session keeps them out of its events and its file as well. */
  redactor?: Redactor | undefined;
  /** Milliseconds since the epoch; without it a reply that broke off gets the timestamp of the previous message. */
  now?: (() => number) | undefined;
}
