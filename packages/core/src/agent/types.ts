import type { Effort, Model, ProviderError, StreamContext, StreamFunction } from "../provider/types.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  Preview,
  Revise,
  Tool,
} from "../tool/types.ts";
import type {
  AssistantMessage,
  Message,
  ToolCallOutcome,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../types.ts";

/** An error as events and files carry it. `errorType` is the kind of a ProviderError. */
export interface SerializableError {
  /** One line for the user. */
  message: string;
  /** Of its class. */
  name: string;
  /** Of what was thrown as a bug. */
  stack?: string;
  errorType?: string;
}

/** What came of a reply: the next piece of its text, its thinking, or the JSON of the arguments of the call `id`. */
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

/**
 * How much a notice matters: something to know, something that went wrong in passing, something that did not work.
 */
export type NoticeLevel = "info" | "warning" | "error";

/** What a request was made for beside the conversation: a summary of it, or what is worth knowing in it. */
export type UsagePurpose = "summary" | "knowledge";

/** A message of the user's that joins a running conversation. */
export interface SteeredMessage {
  message: UserMessage;
  /** What its `steering` event names it by. */
  id: string;
  /** It tells of something that has happened already, such as a command of the user's own. */
  isNote?: boolean;
}

/**
 * Everything that happens in a run. Events with the same `itemId` belong to one item, which begins with its `_start`,
 * grows with `_delta` or `_update` and is finished with its `_end`. A second `message_start` with the same `itemId`
 * means that the request was repeated and the item begins anew.
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
      /** Set when the call begins to run with other arguments than those of its `tool_start`: the user changed them. */
      input?: Record<string, unknown>;
    }
  | {
      type: "tool_end";
      itemId: string;
      toolCallId: string;
      toolName: string;
      output: string;
      isError: boolean;
      /** Set where `isError`. */
      outcome?: ToolCallOutcome;
      /** The arguments that it ran with, where the user changed them. */
      input?: Record<string, unknown>;
      metadata?: Record<string, unknown>;
    }
  | { type: "status_change"; status: "idle" | "busy" | "retry"; retry?: { attempt: number; delayMs: number } }
  /**
   * One request's usage; `cost` in US dollars, null when the model's price is unknown. With a `purpose` it was none of the
   * conversation's own, and says nothing about the size of that.
   */
  | { type: "usage"; usage: Usage; cost: number | null; purpose?: UsagePurpose }
  | { type: "error"; error: SerializableError; fatal: boolean }
  | { type: "notice"; level: NoticeLevel; code: string; message: string }
  /** A message of the user's that joined the running conversation; see `SteeredMessage`. */
  | { type: "steering"; text: string; id?: string; isNote?: true }
  /** The conversation is being summarised; `estimatedTokens` is what the next request would have held. */
  | { type: "compaction_start"; estimatedTokens: number }
  /** Tokens of the next request before and after; `summary` is the beginning of the new summary. */
  | { type: "compaction_end"; tokensBefore: number; tokensAfter: number; summary: string }
  | { type: "knowledge_saved"; knowledgeId: string; content: string }
  /** Somebody is being asked, or was refused; `gate` names what asked. */
  | { type: "approval_request"; requestId: string; request: ApprovalRequest; gate: string };

/** What whoever decides about a request may need for it. */
export interface Asking {
  /** Tells the run's observers that somebody is being asked, or was refused; `shown` where more is shown than was asked. */
  announce(gate: string, shown?: ApprovalRequest): void;
  /** What the call would change, for the person who is asked. */
  preview?: Preview | undefined;
  /** The call with other arguments, for a person who would rather have those; left out where it has begun to run. */
  revise?: Revise | undefined;
}

/** Decides about one request. */
export type Approve = (
  request: ApprovalRequest,
  asking: Asking,
) => Promise<ApprovalResponse | ApprovalDecision>;

/** A model request that is about to be made, put to whoever manages the context. */
export interface UpcomingRequest {
  /** What it holds if nothing is done. */
  context: StreamContext;
  /** Set when the same request was made and refused for its length: it has to become shorter. */
  overflow?: ProviderError | undefined;
  signal: AbortSignal;
  /** Tells the run's observers what is being done. */
  emit(event: AgentEvent): void;
  /** Counts a request that is made on the way, such as one for a summary, into the run's cost. */
  countUsage(usage: Usage, model: Model, purpose: UsagePurpose): void;
}

/** What a request holds from now on, in place of what the run had gathered. */
export interface PreparedContext {
  messages: readonly Message[];
  /** Left out: the one before goes on. */
  systemPrompt?: string | undefined;
}

/**
 * Prepares the context before every model request. Undefined: it stays as it is; after an overflow, nothing could be
 * done about it. An error that it throws ends the run; once `signal` is aborted it returns undefined instead.
 */
export type PrepareContext = (request: UpcomingRequest) => Promise<PreparedContext | undefined>;

/**
 * Keeps what calls are about to change, so that it can be taken back. Nothing here rejects: what cannot be kept stops nobody.
 */
export interface ChangeKeeper {
  /**
   * Waited for before a call runs that is not known to change nothing, once it is allowed.
   * @param change `isFirst`: the first such call of the run. `notify` tells the run's observers something. `writes`: the
   * path, as the model gave it, that is all that the call changes, where that is so.
   */
  beforeChanges(change: {
    isFirst: boolean;
    notify(level: NoticeLevel, code: string, message: string): void;
    writes?: string | undefined;
  }): Promise<void>;
  /** Told when the call has ended; what it does about that goes on beside the run. */
  afterChanges(): void;
  /** Waited for at the end of the run: resolves when everything is noted down. */
  settled(): Promise<void>;
}

/** What a run needs. The loop reads no disk, no screen, no environment: all of it comes in here. */
export interface AgentLoopConfig {
  /** Who is asked; its price gives the costs, its window nothing but what `prepareContext` makes of it. */
  model: Model;
  /** Stands before every request, unchanged, unless `prepareContext` gives another. */
  systemPrompt: string;
  /** What the model may call, in the order in which it is told of them; names are unique. */
  tools: readonly Tool[];
  /** Asks the model once; what repeats requests is a wrapper around it. */
  streamFunction: StreamFunction;
  /** Aborted, the run ends with stop reason `aborted`, once what runs has stopped. */
  signal?: AbortSignal | undefined;
  /** Model replies, each with its tool results; unlimited when left out. */
  maxTurns?: number | undefined;
  /** US dollars; once reached, no further call is run and no further request is made. */
  maxCost?: number | undefined;
  /** Handed to the stream function, for the retry wrapper. */
  maxRetries?: number | undefined;
  /** How hard the model thinks; as the provider has it when left out. */
  effort?: Effort | undefined;
  /** Handed to the stream function, so that a provider can route a session's requests to one cache. */
  sessionId?: string | undefined;
  /** Answers "once" to everything when left out. */
  approve?: Approve | undefined;
  /** Called with each finished message, tool results and steering included, before the event that shows it. */
  record?: ((message: Message) => void) | undefined;
  /** Keeps the context within the model's window; without it a request that is too long ends the run. */
  prepareContext?: PrepareContext | undefined;
  /** Messages the user sent while the run was going on; asked for between turns. */
  takeSteering?: (() => (UserMessage | SteeredMessage)[]) | undefined;
  /** Keeps what calls change, so that it can be taken back; nothing is kept when left out. */
  changes?: ChangeKeeper | undefined;
  /** Keeps an output that is cut for the model. */
  keepOutput?: KeepOutput | undefined;
  /** Milliseconds since the epoch; without it a reply that broke off is dated like the message before it. */
  now?: (() => number) | undefined;
}
