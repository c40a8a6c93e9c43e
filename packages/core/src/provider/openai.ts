import { now } from "../infrastructure/runtime.ts";
import { classifyResponse } from "./classify-error.ts";
import { type ProviderEndpoint, withWatch } from "./endpoint.ts";
import {
  loadOpenAISdk,
  OPENAI_VENDOR,
  refusedOpenAIPart,
  sendOpenAIRequest,
  toOpenAIEndpoint,
  toOpenAIError,
} from "./openai/client.ts";
import { toOpenAIMessage } from "./openai/items.ts";
import { refusalKeysOf, toOpenAIRequest } from "./openai/request.ts";
import { applyOpenAIEvent, createOpenAIAnswer } from "./openai/response.ts";
import { type Exchange, streamAnswer } from "./transport.ts";
import type { Model, StreamContext, StreamFunction, StreamOptions } from "./types.ts";

/** Loads the SDK before the first request, so that the request does not wait for it. */
export async function preloadOpenAI(): Promise<void> {
  await loadOpenAISdk();
}

/**
 * Answers from OpenAI's Responses API; nothing is stored at OpenAI. `baseUrl` usually ends in `/v1`; the default is
 * OpenAI's own. This function does not retry, and it reads no key from the environment. An abort takes effect
 * immediately, even if the server is silent.
 */
export function createOpenAIStream(apiKey: string, baseUrl?: string): StreamFunction {
  const endpoint = toOpenAIEndpoint(apiKey, baseUrl);
  const refused = new Set<string>();
  return (model, context, options) => {
    const watched = withWatch(endpoint, options.watchConnection);
    return streamAnswer(
      createExchange({ endpoint: watched, model, context, options, refused }),
      options.signal,
    );
  };
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
    toMessage: () => toOpenAIMessage(answer, { model: model.id, timestamp: now() }),
    toError: async (error) => toOpenAIError(error, await loadOpenAISdk(), endpoint),
  };
}

/** The request, and what was learned from earlier rejections. */
interface OpenAIRequest {
  endpoint: ProviderEndpoint;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /**
   * The parts that the API rejected (see `refusalKeysOf`); new ones are added. The requests of one stream function
   * share the set.
   */
  refused: Set<string>;
}

/**
 * Requests an answer and returns its events. Encrypted reasoning is bound to an organization, a server and perhaps a
 * model, and some models and accounts support no summaries or no effort. If the API rejects one of these, the request
 * is repeated without it; otherwise the conversation could never continue.
 */
async function openOpenAIAnswer(
  request: OpenAIRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  const { endpoint, model, context, options } = request;
  const refused = new Set(request.refused);
  for (;;) {
    const body = toOpenAIRequest(model, context, { ...options, refused });
    try {
      const answer = await sendOpenAIRequest(endpoint, body, signal);
      for (const key of refused) request.refused.add(key);
      return answer;
    } catch (cause) {
      const error = toOpenAIError(cause, await loadOpenAISdk(), endpoint);
      const part = refusedOpenAIPart(error);
      const keys = part ? refusalKeysOf(body, part) : [];
      if (keys.length === 0) throw error;
      for (const key of keys) refused.add(key);
    }
  }
}
