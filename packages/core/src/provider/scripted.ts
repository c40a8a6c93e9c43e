import type { EventStream } from "../event-stream.ts";
import { now as clockNow, sleep } from "../infrastructure/runtime.ts";
import type { AssistantMessage, ContentBlock, StopReason } from "../types.ts";
import { ProviderError } from "./errors.ts";
import { findRequestFault } from "./scripted/check-request.ts";
import {
  estimateRequestTokens,
  type NumberedTurn,
  numberToolCalls,
  type PlayedStep,
  playSteps,
  repliedUsage,
  scriptedUsage,
  toMessageBlocks,
  toReplyStop,
} from "./scripted/reply.ts";
import type { Script } from "./scripted/script.ts";
import { createTurnSource, type TakeTurn } from "./scripted/turns.ts";
import {
  createProviderStream,
  type Model,
  type ProviderEvent,
  type ProviderResult,
  type RequestPurpose,
  type StreamContext,
  type StreamFunction,
  type StreamOptions,
} from "./types.ts";

export { parseScript, readScript } from "./scripted/parse-script.ts";
export type { Recording } from "./scripted/recording.ts";
export { findStart, type ScriptStart } from "./scripted/turns.ts";

const DEFAULT_CONTEXT_WINDOW = 200_000;
const MAX_OUTPUT_TOKENS = 16_384;

/**
 * The model of a script; `path` as the user wrote it after `scripted/`. Its price is unknown unless the script states
 * one.
 */
export function scriptedModel(path: string, script: Script): Model {
  const { contextWindow = DEFAULT_CONTEXT_WINDOW, maxInputTokens } = script;
  return {
    id: `scripted/${path}`,
    provider: "scripted",
    contextWindow,
    maxOutputTokens: script.maxOutputTokens ?? Math.min(MAX_OUTPUT_TOKENS, contextWindow),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    thinking: "none",
    ...script.price,
  };
}

/** Where playing begins, and the clock. */
export interface ScriptedOptions {
  /** The index of the first turn to play. By default, the number of replies in the first request's messages. */
  startAtTurn?: number | undefined;
  /** Index of the first summary to play. */
  startAtSummary?: number | undefined;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
}

/**
 * A provider that needs no network: the next turn of the script answers each request, retries included. A request
 * that a real API would reject is rejected with the reason and takes no turn; nor does a request that is aborted
 * beforehand.
 */
export function createScriptedStream(script: Script, options: ScriptedOptions = {}): StreamFunction {
  const takeTurn = createTurnSource(numberToolCalls(script), options);
  const now = options.now ?? clockNow;
  return (model: Model, context: StreamContext, streamOptions: StreamOptions) => {
    const request: PlayedRequest = {
      stream: createProviderStream(),
      model: model.id,
      timestamp: now(),
      requestTokens: estimateRequestTokens(context),
      signal: streamOptions.signal,
    };
    answer(request, { context, takeTurn, purpose: streamOptions.purpose });
    return request.stream;
  };
}

interface Asked {
  context: StreamContext;
  takeTurn: TakeTurn;
  purpose: RequestPurpose | undefined;
}

function answer(request: PlayedRequest, { context, takeTurn, purpose }: Asked): void {
  const { stream, signal } = request;
  if (signal?.aborted) {
    finishAborted(request, []);
    return;
  }
  const fault = findRequestFault(context);
  const turn = fault ? refusal(`${fault.path}: ${fault.message}`) : takeTurn(context.messages, purpose);
  if (turn instanceof ProviderError) stream.push({ type: "error", error: turn });
  else void playTurn(request, turn);
}

function refusal(fault: string): ProviderError {
  const message = `The scripted provider rejects this request, as a real API would: ${fault}.`;
  return new ProviderError(message, "invalid_request");
}

// After this many chunks without a delay, the rest of the process gets a turn, so that Ctrl+C works.
const CHUNKS_AT_ONCE = 256;

/** The properties of the request that its reply needs. */
interface PlayedRequest {
  stream: EventStream<ProviderEvent, ProviderResult>;
  /** The id of the model. */
  model: string;
  timestamp: number;
  /** The estimated tokens of the request. */
  requestTokens: number;
  signal: AbortSignal | undefined;
}

/**
 * Streams a turn as a provider would; never rejects. If aborted, it ends immediately with `done` and the streamed
 * part.
 */
async function playTurn(request: PlayedRequest, numbered: NumberedTurn): Promise<void> {
  const { turn } = numbered;
  try {
    // The caller has subscribed to the stream before its first event.
    await (turn.delayMs ? sleep(turn.delayMs, request.signal) : Promise.resolve());
    const content = await streamSteps(request, numbered);
    if (request.signal?.aborted) finishAborted(request, content);
    else if (turn.error) fail(request, { ...turn, error: turn.error }, content);
    else if (turn.reply) push(request, { ...turn.reply, usage: repliedUsage(turn.reply, turn) });
    else finish(request, { content, ...toReplyStop(turn) }, turn.usage);
  } catch (error) {
    request.stream.push({
      type: "error",
      error: new ProviderError(String(error), "unknown", { cause: error }),
    });
  }
}

/** Ends the stream of a request that was aborted. */
function finishAborted(request: PlayedRequest, content: ContentBlock[]): void {
  finish(request, { content, stopReason: "aborted" });
}

/** Returns the blocks of the reply; after an abort, those that were streamed and the beginning of the next. */
async function streamSteps(request: PlayedRequest, numbered: NumberedTurn): Promise<ContentBlock[]> {
  const { stream, signal, requestTokens } = request;
  const pause = createPause(numbered.turn.chunkDelayMs ?? 0, signal);
  const streamed = new StreamedBlocks();
  for (const step of playSteps(numbered, requestTokens)) {
    if (isChunk(step)) await pause();
    if (signal?.aborted) return toMessageBlocks([...streamed.whole, ...streamed.brokenOff()]);
    if ("event" in step) stream.push(step.event);
    streamed.note(step);
  }
  return toMessageBlocks(streamed.whole);
}

function isChunk(step: PlayedStep): boolean {
  return "event" in step && "delta" in step.event;
}

/** The streamed part of a reply. */
class StreamedBlocks {
  readonly whole: ContentBlock[] = [];
  private open: { type: "text" | "thinking"; words: string } | undefined;

  note(step: PlayedStep): void {
    if ("block" in step) {
      this.whole.push(step.block);
      this.open = undefined;
    } else if (step.event.type === "text_delta") this.grow("text", step.event.delta);
    else if (step.event.type === "thinking_delta") this.grow("thinking", step.event.delta);
  }

  /** The streamed part of an unfinished block. A partial tool call must never look like a complete one. */
  brokenOff(): ContentBlock[] {
    if (!this.open) return [];
    const { type, words } = this.open;
    return [type === "text" ? { type, text: words } : { type, thinking: words }];
  }

  private grow(type: "text" | "thinking", delta: string): void {
    const words = this.open?.type === type ? this.open.words : "";
    this.open = { type, words: words + delta };
  }
}

/** Waits before every chunk but the first; without a delay it uses no timer. */
function createPause(chunkDelayMs: number, signal: AbortSignal | undefined): () => Promise<void> {
  let chunks = 0;
  return async () => {
    chunks++;
    if (chunks === 1) return;
    if (chunkDelayMs > 0) await sleep(chunkDelayMs, signal);
    else if (chunks % CHUNKS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  };
}

type FailingTurn = NumberedTurn["turn"] & { error: NonNullable<NumberedTurn["turn"]["error"]> };

/** A failed turn that states its usage reports it, as providers charge for what they have streamed. */
function fail({ stream, requestTokens }: PlayedRequest, turn: FailingTurn, content: ContentBlock[]): void {
  const { message, errorType, ...details } = turn.error;
  if (turn.usage) stream.push({ type: "usage", usage: scriptedUsage(turn.usage, requestTokens, content) });
  stream.push({ type: "error", error: new ProviderError(message, errorType, details) });
}

interface FinishedReply {
  content: ContentBlock[];
  stopReason: StopReason;
  rawStopReason?: string;
}

function finish(
  request: PlayedRequest,
  { content, ...stop }: FinishedReply,
  scripted?: NumberedTurn["turn"]["usage"],
): void {
  const usage = scriptedUsage(scripted, request.requestTokens, content);
  request.stream.push({ type: "usage", usage });
  push(request, { content, usage, ...stop });
}

function push(
  { stream, model, timestamp }: PlayedRequest,
  { content, usage, ...stop }: FinishedReply & Pick<AssistantMessage, "usage">,
): void {
  // The fields have the same order as in other adapters, so that the lines of two runs are identical.
  const message: AssistantMessage = { role: "assistant", content, model, usage, ...stop, timestamp };
  stream.push({ type: "done", stopReason: stop.stopReason, message });
}
