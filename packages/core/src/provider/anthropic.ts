import type { EventStream } from "../event-stream.ts";
import { now, sleep } from "../infrastructure/clock.ts";
import { toAnthropicError } from "./anthropic-errors.ts";
import { applyAnthropicEvent, createAnthropicAnswer, toAssistantMessage } from "./anthropic-events.ts";
import { type AnthropicRequest, openAnthropicAnswer } from "./anthropic-exchange.ts";
import { type AnthropicEndpoint, loadAnthropicSdk, toAnthropicEndpoint } from "./anthropic-transport.ts";
import { ProviderError } from "./errors.ts";
import { createProviderStream } from "./provider-stream.ts";
import type { ProviderEvent, ProviderResult, StreamFunction } from "./types.ts";

// A connection whose body ends by itself can be used again; one that stays open after the last event is closed.
const CLOSE_AFTER_MS = 1_000;

/** Loads the SDK ahead of the first request, so that the request does not wait for it. */
export async function preloadAnthropic(): Promise<void> {
  await loadAnthropicSdk();
}

/**
 * Answers of Anthropic's Messages API. `baseUrl` is without `/v1`; left out, it is Anthropic's own. Nothing is retried
 * here, and no key is looked for elsewhere. An abort takes effect at once, even when the server is silent.
 */
export function createAnthropicStream(apiKey: string, baseUrl?: string): StreamFunction {
  const endpoint = toAnthropicEndpoint(apiKey, baseUrl);
  const rejectedThinking = new Set<string>();
  return (model, context, options) => {
    const stream = createProviderStream();
    void streamAnswer({ endpoint, model, context, options, rejectedThinking }, stream);
    return stream;
  };
}

async function streamAnswer(
  request: AnthropicRequest,
  stream: EventStream<ProviderEvent, ProviderResult>,
): Promise<void> {
  const { signal } = request.options;
  const answer = createAnthropicAnswer();
  const finish = () => {
    const message = toAssistantMessage(answer, { model: request.model.id, timestamp: now() });
    stream.push({ type: "done", stopReason: message.stopReason, message });
  };
  if (signal?.aborted) return finish();
  const connection = new AbortController();
  const abort = () => {
    // The stream drops whatever comes after its end, so it does not matter how long the connection takes to close.
    finish();
    connection.abort();
  };
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of await openAnthropicAnswer(request, connection.signal)) {
      for (const ours of applyAnthropicEvent(answer, event)) stream.push(ours);
      if (!answer.isFinished) continue;
      finish();
      void sleep(CLOSE_AFTER_MS, connection.signal).then(() => connection.abort());
    }
    stream.push({ type: "error", error: cutError(request.endpoint) });
  } catch (error) {
    stream.push({ type: "error", error: await classify(error, request.endpoint) });
  } finally {
    signal?.removeEventListener("abort", abort);
    connection.abort();
  }
}

async function classify(error: unknown, endpoint: AnthropicEndpoint): Promise<ProviderError> {
  return toAnthropicError(error, await loadAnthropicSdk(), endpoint);
}

/** Dropped when the answer was finished or aborted before. */
function cutError({ host }: AnthropicEndpoint): ProviderError {
  return new ProviderError(`${host} cut the answer off before its end.`, "stream_cut");
}
