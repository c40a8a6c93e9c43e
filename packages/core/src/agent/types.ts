import type { Effort, Model, ProviderError, StreamContext, StreamFunction } from "../provider/types.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  KeepOutput,
  Preview,
  Tool,
} from "../tool/types.ts";
import type { AssistantMessage, Message, ToolResultMessage, Usage, UserMessage } from "../types.ts";

/** An error as events and files carry it. `errorType` is the kind of a ProviderError. */
export interface SerializableError {
  message: string;
  name: string;
  stack?: string;
  errorType?: string;
}

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

export type NoticeLevel = "info" | "warning" | "error";

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
  | { type: "tool_update"; itemId: string; toolCallId: string; toolName: string; partialResult: string }
  | {
      type: "tool_end";
      itemId: string;
      toolCallId: string;
      toolName: string;
      output: string;
      isError: boolean;
      metadata?: Record<string, unknown>;
    }
  | { type: "status_change"; status: "idle" | "busy" | "retry"; retry?: { attempt: number; delayMs: number } }
  /** One request's usage; `cost` in US dollars, null when the model's price is unknown. */
  | { type: "usage"; usage: Usage; cost: number | null }
  | { type: "error"; error: SerializableError; fatal: boolean }
  | { type: "notice"; level: NoticeLevel; code: string; message: string }
  /** A message of the user's that joined the running conversation. */
  | { type: "steering"; text: string }
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
  countUsage(usage: Usage, model: Model): void;
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

/** What a run needs. The loop reads no disk, no screen, no environment: all of it comes in here. */
export interface AgentLoopConfig {
  model: Model;
  systemPrompt: string;
  tools: readonly Tool[];
  streamFunction: StreamFunction;
  signal?: AbortSignal | undefined;
  /** Model replies, each with its tool results; unlimited when left out. */
  maxTurns?: number | undefined;
  /** US dollars; once reached, no further call is run and no further request is made. */
  maxCost?: number | undefined;
  /** Handed to the stream function, for the retry wrapper. */
  maxRetries?: number | undefined;
  effort?: Effort | undefined;
  sessionId?: string | undefined;
  /** Answers "once" to everything when left out. */
  approve?: Approve | undefined;
  /** Called with each finished message, tool results and steering included, before the event that shows it. */
  record?: ((message: Message) => void) | undefined;
  /** Keeps the context within the model's window; without it a request that is too long ends the run. */
  prepareContext?: PrepareContext | undefined;
  /** Messages the user sent while the run was going on; asked for between turns. */
  takeSteering?: (() => UserMessage[]) | undefined;
  /** Keeps an output that is cut for the model. */
  keepOutput?: KeepOutput | undefined;
  /** Milliseconds since the epoch; without it a reply that broke off is dated like the message before it. */
  now?: (() => number) | undefined;
}
