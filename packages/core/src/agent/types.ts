import type { Effort, Model, StreamFunction } from "../provider/types.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalResponse, KeepOutput, Tool } from "../tool/types.ts";
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
  /** Somebody is being asked, or was refused; `gate` names what asked. */
  | { type: "approval_request"; requestId: string; request: ApprovalRequest; gate: string };

/** Decides about one request; `announce` tells the run's observers that somebody is being asked. */
export type Approve = (
  request: ApprovalRequest,
  announce: (gate: string) => void,
) => Promise<ApprovalResponse | ApprovalDecision>;

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
  /** Messages the user sent while the run was going on; asked for between turns. */
  takeSteering?: (() => UserMessage[]) | undefined;
  /** Keeps an output that is cut for the model. */
  keepOutput?: KeepOutput | undefined;
  /** Milliseconds since the epoch; without it a reply that broke off is dated like the message before it. */
  now?: (() => number) | undefined;
}
