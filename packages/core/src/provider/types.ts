import { EventStream } from "../event-stream.ts";
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

/** How hard a model thinks before it answers. `off` asks it not to, where it can be asked. */
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
 * How a model takes thinking. `adaptive`: it decides itself, steered by effort; `always`: the same, and it cannot be
 * asked not to; `budget`: it wants a token budget; `none`: it has no thinking that could be asked for.
 */
export type ThinkingSupport = "adaptive" | "always" | "budget" | "none";

/** US dollars for a million tokens. What is missing is unknown, not free. */
export interface ModelPrice {
  inputCostPer1M?: number;
  outputCostPer1M?: number;
  cacheReadCostPer1M?: number;
  cacheWriteCostPer1M?: number;
}

/** The numbers of a model that decisions and costs hang on. */
export type ModelFacts = ModelPrice &
  Partial<Pick<Model, "contextWindow" | "maxOutputTokens" | "maxInputTokens" | "longContext">>;

/**
 * What decides how a run goes beside the model's replies. A run that is recorded is held under it, and so is every replay:
 * whatever is left out is as nobody has configured and nobody has learned it.
 */
export interface RunConditions {
  /** Settings of sessions for staying within the window. */
  compaction?: CompactionSettings | undefined;
  /** True: before an automatic compaction the model is asked what is worth knowing. */
  flushKnowledge?: boolean | undefined;
  /** Model replies without `add_knowledge` after which the model is reminded of it. */
  nudgeInterval?: number | undefined;
  /** Attempts of a request after the first. */
  maxRetries?: number | undefined;
  /** Model replies after which a run stops. */
  maxTurns?: number | undefined;
  /** US dollars at which a run stops. */
  maxCost?: number | undefined;
  /** What was known of the model's tokenizer at the beginning: tokens of one character, from so many requests. */
  calibration?: { ratio: number; samples: number } | undefined;
  /** Of the model that writes summaries, where it is another one. */
  summarizer?: ModelFacts | undefined;
}

/** A model as requests, limits and costs need to know it. */
export interface Model extends ModelPrice {
  /** As the provider calls it, such as `claude-sonnet-5-5`. */
  id: string;
  /** `anthropic`, `openai`, `scripted`, or the name of a compatible server. */
  provider: string;
  /** Tokens of a whole request with its answer. */
  contextWindow: number;
  /** Tokens of one answer. */
  maxOutputTokens: number;
  /** Tokens of a request without its answer, where the provider takes fewer than fit into the window. */
  maxInputTokens?: number;
  /** The price of a request whose input, cached tokens included, is longer than `aboveInputTokens`. */
  longContext?: ModelPrice & { aboveInputTokens: number };
  /** Left out: what the adapter makes of the id. */
  thinking?: ThinkingSupport;
  /** What counts in place of what is configured and was learned: of a run that is recorded, and of its replays. */
  conditions?: RunConditions;
}

/** The input of a model: everything it knows of the conversation. */
export interface StreamContext {
  systemPrompt: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
}

/** What a request beside the conversation is for. */
export type RequestPurpose = "summary" | "knowledge";

/** How it is asked. */
export interface StreamOptions {
  /** Aborted, the stream ends in `done` with what had arrived. */
  signal?: AbortSignal | undefined;
  /** Cap for the answer, in tokens; the model's own limit when left out. */
  maxTokens?: number | undefined;
  /** As the provider has it when left out. */
  effort?: Effort | undefined;
  /** Attempts after the first; read by the retry wrapper only. */
  maxRetries?: number | undefined;
  /** Marks a request beside the conversation: one that summarises it, or one for what is worth knowing in it. */
  purpose?: RequestPurpose | undefined;
  /** Names the session, so that a provider can route its requests to one cache. */
  sessionId?: string | undefined;
}

/**
 * What happens while a model answers. A second `start` means that the request was retried: earlier content is void.
 * The last event is always `done` or `error`; an aborted request ends in `done` with what had arrived.
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
  /** The usage so far: the newest replaces what came before it. */
  | { type: "usage"; usage: Usage }
  /** From the retry wrapper: attempt number `attempt` (2 is the first repetition) begins after `delayMs`. */
  | { type: "retry"; attempt: number; delayMs: number; error: ProviderError }
  /** Something came that there is nothing to say about. */
  | { type: "alive" }
  /** From the watchdog: nothing has come for so long. */
  | { type: "stall"; silentMs: number }
  | { type: "done"; stopReason: StopReason; message: AssistantMessage }
  | { type: "error"; error: ProviderError };

/** What a stream of a provider ends in. */
export interface ProviderResult {
  message: AssistantMessage;
}

/** Never throws and never rejects outside `result()`: a failure is the last event. */
export type StreamFunction = (
  model: Model,
  context: StreamContext,
  options: StreamOptions,
) => EventStream<ProviderEvent, ProviderResult>;

/** A stream that ends with `done` or `error`, as every provider returns it; `result()` rejects with the ProviderError. */
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
