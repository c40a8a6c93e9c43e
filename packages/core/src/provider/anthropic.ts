import { now } from "../infrastructure/clock.ts";
import { type Exchange, streamAnswer } from "./answer-stream.ts";
import { toAnthropicError } from "./anthropic-errors.ts";
import { applyAnthropicEvent, createAnthropicAnswer, toAssistantMessage } from "./anthropic-events.ts";
import { type AnthropicRequest, openAnthropicAnswer } from "./anthropic-exchange.ts";
import { loadAnthropicSdk, toAnthropicEndpoint } from "./anthropic-transport.ts";
import type { StreamFunction } from "./types.ts";

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
  return (model, context, options) =>
    streamAnswer(createExchange({ endpoint, model, context, options, rejectedThinking }), options.signal);
}

function createExchange(request: AnthropicRequest): Exchange {
  const { endpoint, model } = request;
  const answer = createAnthropicAnswer();
  return {
    host: endpoint.host,
    open: (signal) => openAnthropicAnswer(request, signal),
    apply: (event) => applyAnthropicEvent(answer, event),
    isFinished: () => answer.isFinished,
    toMessage: () => toAssistantMessage(answer, { model: model.id, timestamp: now() }),
    toError: async (error) => toAnthropicError(error, await loadAnthropicSdk(), endpoint),
  };
}
