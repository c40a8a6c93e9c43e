import { now } from "../infrastructure/clock.ts";
import { type Exchange, streamAnswer } from "./answer-stream.ts";
import { loadOpenAISdk } from "./openai-client.ts";
import { OPENAI_VENDOR, toOpenAIError } from "./openai-errors.ts";
import { applyOpenAIEvent, createOpenAIAnswer } from "./openai-events.ts";
import { type OpenAIRequest, openOpenAIAnswer } from "./openai-exchange.ts";
import { toAssistantMessage } from "./openai-message.ts";
import { toOpenAIEndpoint } from "./openai-transport.ts";
import { classifyResponse } from "./response-errors.ts";
import type { StreamFunction } from "./types.ts";

/** Loads the SDK ahead of the first request, so that the request does not wait for it. */
export async function preloadOpenAI(): Promise<void> {
  await loadOpenAISdk();
}

/**
 * Answers of OpenAI's Responses API, of which nothing is stored there. `baseUrl` ends in `/v1` as a rule; left out, it is
 * OpenAI's own. Nothing is retried here, and no key is looked for elsewhere. An abort takes effect at once, even when
 * the server is silent.
 */
export function createOpenAIStream(apiKey: string, baseUrl?: string): StreamFunction {
  const endpoint = toOpenAIEndpoint(apiKey, baseUrl);
  const refused = new Set<string>();
  return (model, context, options) =>
    streamAnswer(createExchange({ endpoint, model, context, options, refused }), options.signal);
}

function createExchange(request: OpenAIRequest): Exchange {
  const { endpoint, model } = request;
  const answer = createOpenAIAnswer();
  return {
    host: endpoint.host,
    open: (signal) => openOpenAIAnswer(request, signal),
    apply: (event) => {
      const ours = applyOpenAIEvent(answer, event);
      if (!answer.failure) return ours;
      const response = { status: undefined, headers: undefined, body: { error: answer.failure } };
      throw classifyResponse(response, endpoint, OPENAI_VENDOR);
    },
    isFinished: () => answer.isFinished,
    toMessage: () => toAssistantMessage(answer, { model: model.id, timestamp: now() }),
    toError: async (error) => toOpenAIError(error, await loadOpenAISdk(), endpoint),
  };
}
