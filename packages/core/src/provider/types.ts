import { EventStream } from "../event-stream.ts";
import type { WatchConnection } from "../infrastructure/network/connection.ts";
import type {
  AssistantMessage,
  CompactionSettings,
  Message,
  StopReason,
  ToolDefinition,
  Usage,
} from "../types.ts";
import type { ProviderError } from "./errors.ts";

export type { PruningConditions, ToolDefinition } from "../types.ts";
export { ProviderError, toProviderError } from "./errors.ts";

/** How much a model thinks before it answers. `off` disables thinking, where the model supports that. */
export type Effort = "off" | "low" | "medium" | "high" | "xhigh" | "max";

const LEVELS = {
  off: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
} as const satisfies Record<Effort, true>;

/** True for a thinking level that this version knows. */
export function isEffort(value: unknown): value is Effort {
  return typeof value === "string" && Object.hasOwn(LEVELS, value);
}

/**
 * How a model's thinking is controlled. `adaptive`: the model decides, steered by effort. `always`: the same, but
 * thinking cannot be disabled. `budget`: the request states a token budget. `none`: the model does not think.
 */
export type ThinkingSupport = "adaptive" | "always" | "budget" | "none";

/** US dollars per million tokens. Missing prices are unknown, not zero. */
export interface ModelPrice {
  inputCostPer1M?: number;
  outputCostPer1M?: number;
  cacheReadCostPer1M?: number;
  cacheWriteCostPer1M?: number;
}

/** The limits and prices of a model. */
export type ModelFacts = ModelPrice &
  Partial<Pick<Model, "contextWindow" | "maxOutputTokens" | "maxInputTokens" | "longContext">>;

/**
 * The settings that determine a run besides the model's replies. A recording contains them, and its replays use them instead
 * of the configuration: a missing setting has its default, and a missing measurement was not taken.
 */
export interface RunConditions {
  /** Settings of sessions for staying within the window. */
  compaction?: CompactionSettings | undefined;
  /** True: before an automatic compaction the model is asked which knowledge to keep. */
  flushKnowledge?: boolean | undefined;
  /** The number of model replies without `add_knowledge` after which the model is reminded of it. */
  nudgeInterval?: number | undefined;
  /** Attempts of a request after the first. */
  maxRetries?: number | undefined;
  /** The number of model replies after which a run stops. */
  maxTurns?: number | undefined;
  /** The cost in US dollars at which a run stops. */
  maxCost?: number | undefined;
  /** The initial measurements of the tokenizer: tokens per character, and the number of requests they are based on. */
  calibration?: { ratio: number; samples: number } | undefined;
  /** The model that writes summaries, if it is another one. */
  summarizer?: ModelFacts | undefined;
}

/** The properties of a model that requests, limits and costs depend on. */
export interface Model extends ModelPrice {
  /** The provider's name for it, such as `claude-sonnet-5-5`. */
  id: string;
  /** `anthropic`, `openai`, `scripted`, or the name of a compatible server. */
  provider: string;
  /** Tokens of a whole request with its answer. */
  contextWindow: number;
  /** Tokens of one answer. */
  maxOutputTokens: number;
  /** Tokens of a request without its answer, if the provider accepts fewer than fit into the window. */
  maxInputTokens?: number;
  /** The price of a request whose input, cached tokens included, is longer than `aboveInputTokens`. */
  longContext?: ModelPrice & { aboveInputTokens: number };
  /** By default, the adapter derives it from the id. */
  thinking?: ThinkingSupport;
  /** True if its provider hides deferred tools until a result names them. */
  defersTools?: boolean;
}

/** The input of a model: the whole conversation. */
export interface StreamContext {
  systemPrompt: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
}

/** The purpose of a request outside the conversation; `server`: an MCP server has asked for it. */
export type RequestPurpose = "summary" | "knowledge" | "server";

/** The options of a request. */
export interface StreamOptions {
  /** If it aborts, the stream ends with `done` and the part that had arrived. */
  signal?: AbortSignal | undefined;
  /** The most tokens of the answer; by default the model's own limit. */
  maxTokens?: number | undefined;
  /** By default, the provider's own default. */
  effort?: Effort | undefined;
  /** Attempts after the first; read by the retry wrapper only. `retryForMs` decides when left out. */
  maxRetries?: number | undefined;
  /**
   * How long a request is retried, in milliseconds from its first failure; read by the retry wrapper only. Five minutes
   * when left out; `Infinity` where a user is present who can stop it.
   */
  retryForMs?: number | undefined;
  /** Marks a request outside the conversation: for a summary of it, or for knowledge to keep. */
  purpose?: RequestPurpose | undefined;
  /** Offers the provider's own search of the web along with the tools; read by the adapters of providers that have one. */
  webSearch?: boolean | undefined;
  /** Names the session, so that a provider can route its requests to one cache. */
  sessionId?: string | undefined;
  /** Receives the connections of the request; read by the adapters. */
  watchConnection?: WatchConnection | undefined;
}

/**
 * The events of one answer. A second `start` means that the request was retried: earlier content is void. The last
 * event is always `done` or `error`; an aborted request ends with `done` and the part that had arrived.
 */
export type ProviderEvent =
  | { type: "start" }
  | { type: "text_delta"; delta: string }
  | { type: "text_end"; text: string }
  | { type: "thinking_delta"; delta: string }
  | { type: "thinking_end"; thinking: string; signature?: string }
  | { type: "tool_call_start"; id: string; name: string }
  | { type: "tool_call_delta"; id: string; delta: string }
  | { type: "tool_call_end"; id: string; name: string; input: Record<string, unknown> }
  /** The usage so far; it replaces the previous value. */
  | { type: "usage"; usage: Usage }
  /** From the retry wrapper: attempt number `attempt` (2 is the first retry) begins after `delayMs`. */
  | { type: "retry"; attempt: number; delayMs: number; error: ProviderError }
  /** Something arrived that has no event of its own. */
  | { type: "alive" }
  /** The server keeps the connection open, but has not said anything about the answer. */
  | { type: "keep_alive" }
  /** From the watchdog: nothing has arrived for this long. */
  | { type: "stall"; silentMs: number }
  | { type: "done"; stopReason: StopReason; message: AssistantMessage }
  | { type: "error"; error: ProviderError };

/** The last event of a provider's stream. */
export interface ProviderResult {
  message: AssistantMessage;
}

/** Never throws and never rejects except in `result()`: a failure is the last event. */
export type StreamFunction = (
  model: Model,
  context: StreamContext,
  options: StreamOptions,
) => EventStream<ProviderEvent, ProviderResult>;

/**
 * A stream that ends with `done` or `error`, as every provider returns it; `result()` rejects with the ProviderError.
 */
export function createProviderStream(): EventStream<ProviderEvent, ProviderResult> {
  return new EventStream(
    (event) => event.type === "done" || event.type === "error",
    (event) => {
      if (event.type === "done") return { message: event.message };
      if (event.type === "error") throw event.error;
      throw new Error(`A provider stream cannot end with ${event.type}.`);
    },
  );
}
