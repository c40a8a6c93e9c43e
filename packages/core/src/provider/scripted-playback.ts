import type { EventStream } from "../event-stream.ts";
import { sleep } from "../infrastructure/clock.ts";
import type { AssistantMessage, ContentBlock, StopReason } from "../types.ts";
import { ProviderError } from "./errors.ts";
import type { NumberedTurn } from "./scripted-calls.ts";
import { toMessageBlocks, toReplyStop } from "./scripted-reply.ts";
import { type PlayedStep, stepsOf } from "./scripted-steps.ts";
import { repliedUsage, scriptedUsage } from "./scripted-usage.ts";
import type { ProviderEvent, ProviderResult } from "./types.ts";

// Between so many chunks without a delay everything else in the process gets its turn, a Ctrl+C above all.
const CHUNKS_AT_ONCE = 256;

/** What a reply needs to know of its request. */
export interface PlayedRequest {
  stream: EventStream<ProviderEvent, ProviderResult>;
  /** The id of the model. */
  model: string;
  timestamp: number;
  /** The estimated tokens of the request. */
  requestTokens: number;
  signal: AbortSignal | undefined;
}

/** Streams a turn as a provider would; it never rejects. Aborted, it ends at once in `done` with what was streamed. */
export async function playTurn(request: PlayedRequest, numbered: NumberedTurn): Promise<void> {
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
export function finishAborted(request: PlayedRequest, content: ContentBlock[]): void {
  finish(request, { content, stopReason: "aborted" });
}

/** Returns the blocks of the reply; of one that was aborted, those that were streamed and what there is of the next. */
async function streamSteps(request: PlayedRequest, numbered: NumberedTurn): Promise<ContentBlock[]> {
  const { stream, signal, requestTokens } = request;
  const pause = createPause(numbered.turn.chunkDelayMs ?? 0, signal);
  const streamed = new StreamedBlocks();
  for (const step of stepsOf(numbered, requestTokens)) {
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

/** What was streamed of a reply. */
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

  /** What there is of a block that did not finish. Half of a tool call must never look like a whole one. */
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

/** A turn that names its usage has it charged although it fails, as providers do for what they have streamed. */
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
  // The fields in the order in which other adapters have them, so that even the lines of two runs are the same.
  const message: AssistantMessage = { role: "assistant", content, model, usage, ...stop, timestamp };
  stream.push({ type: "done", stopReason: stop.stopReason, message });
}
