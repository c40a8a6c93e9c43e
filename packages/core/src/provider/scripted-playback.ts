import type { EventStream } from "../event-stream.ts";
import { sleep } from "../infrastructure/clock.ts";
import type { AssistantMessage, ContentBlock, StopReason } from "../types.ts";
import { ProviderError } from "./errors.ts";
import type { NumberedTurn } from "./scripted-calls.ts";
import {
  isStreamed,
  type ReplyPart,
  type StreamedPart,
  splitBySizes,
  toMessageBlocks,
  toReplyParts,
  toReplyStop,
} from "./scripted-reply.ts";
import { scriptedUsage } from "./scripted-usage.ts";
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
    const content = await streamParts(request, numbered);
    if (request.signal?.aborted) finishAborted(request, content);
    else if (turn.error) fail(request, { ...turn, error: turn.error }, content);
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

async function streamParts(request: PlayedRequest, numbered: NumberedTurn): Promise<ContentBlock[]> {
  const { stream, signal } = request;
  const { turn } = numbered;
  const parts = toReplyParts(numbered);
  // A request that fails at once, as with an overloaded server, has not even started.
  if (signal?.aborted || (turn.error && parts.length === 0)) return [];
  stream.push({ type: "start" });
  const pause = createPause(turn.chunkDelayMs ?? 0, signal);
  const sizes = (turn.chunks ?? []).values();
  const finished: ReplyPart[] = [];
  for (const part of parts) {
    if (!isStreamed(part)) {
      finished.push(part);
      continue;
    }
    const chunks = splitBySizes(part.streamed, sizes, turn.chunkChars);
    const streamed = await streamPart(part, request, { pause, chunks });
    if (signal?.aborted) return toMessageBlocks([...finished, ...brokenOff(part, streamed)]);
    stream.push(endEvent(part));
    finished.push(part);
  }
  return toMessageBlocks(finished);
}

/** Returns as much of the part's text as was streamed before the request was aborted. */
async function streamPart(
  { block }: StreamedPart,
  { stream, signal }: PlayedRequest,
  { pause, chunks }: { pause: () => Promise<void>; chunks: Iterable<string> },
): Promise<string> {
  if (block.type === "tool_call") stream.push({ type: "tool_call_start", id: block.id, name: block.name });
  let sent = "";
  for (const chunk of chunks) {
    await pause();
    if (signal?.aborted) break;
    stream.push(deltaEvent(block, chunk));
    sent += chunk;
  }
  return sent;
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

/** What there is of a block that did not finish. Half of a tool call must never look like a whole one. */
function brokenOff({ block }: StreamedPart, streamed: string): ReplyPart[] {
  if (streamed === "" || block.type === "tool_call") return [];
  if (block.type === "text") return [{ block: { type: "text", text: streamed }, streamed }];
  return [{ block: { type: "thinking", thinking: streamed }, streamed }];
}

function deltaEvent(block: StreamedPart["block"], delta: string): ProviderEvent {
  if (block.type === "tool_call") return { type: "tool_call_delta", id: block.id, delta };
  return block.type === "text" ? { type: "text_delta", delta } : { type: "thinking_delta", delta };
}

function endEvent({ block }: StreamedPart): ProviderEvent {
  switch (block.type) {
    case "text":
      return { type: "text_end", text: block.text };
    case "thinking": {
      const { thinking, signature } = block;
      return { type: "thinking_end", thinking, ...(signature !== undefined && { signature }) };
    }
    case "tool_call":
      return { type: "tool_call_end", id: block.id, name: block.name, input: block.input };
  }
}

type FailingTurn = NumberedTurn["turn"] & { error: NonNullable<NumberedTurn["turn"]["error"]> };

/** A turn that names its usage has it charged although it fails, as providers do for what they have streamed. */
function fail({ stream, requestTokens }: PlayedRequest, turn: FailingTurn, content: ContentBlock[]): void {
  const { message, errorType, retryAfterMs } = turn.error;
  if (turn.usage) stream.push({ type: "usage", usage: scriptedUsage(turn.usage, requestTokens, content) });
  stream.push({ type: "error", error: new ProviderError(message, errorType, { retryAfterMs }) });
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
  const { stream, model, timestamp, requestTokens } = request;
  const usage = scriptedUsage(scripted, requestTokens, content);
  // The fields in the order in which other adapters have them, so that even the lines of two runs are the same.
  const message: AssistantMessage = { role: "assistant", content, model, usage, ...stop, timestamp };
  stream.push({ type: "usage", usage });
  stream.push({ type: "done", stopReason: stop.stopReason, message });
}
