import type { ProviderEndpoint } from "./endpoint.ts";
import { loadOpenAISdk } from "./openai-client.ts";
import { refusedPartOf, toOpenAIError } from "./openai-errors.ts";
import { refusalKeysOf, toOpenAIRequest } from "./openai-request.ts";
import { sendOpenAIRequest } from "./openai-transport.ts";
import type { Model, StreamContext, StreamOptions } from "./types.ts";

/** What is asked, and what earlier refusals have taught. */
export interface OpenAIRequest {
  endpoint: ProviderEndpoint;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** What the API refused to take (see `refusalKeysOf`), added to here; shared by the requests of one stream function. */
  refused: Set<string>;
}

/**
 * Asks for an answer and returns its events. Encrypted reasoning is bound to an organisation, a server and perhaps a
 * model, and some models and accounts have no summaries or no effort: what the API refuses of these is left out, and
 * the conversation asked again without it, or it could never go on.
 */
export async function openOpenAIAnswer(
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
      const part = refusedPartOf(error);
      const keys = part ? refusalKeysOf(body, part) : [];
      if (keys.length === 0) throw error;
      for (const key of keys) refused.add(key);
    }
  }
}
