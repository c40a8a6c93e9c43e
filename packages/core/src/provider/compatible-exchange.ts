import { refusedPartOf, toCompatibleError } from "./compatible-errors.ts";
import { hasPart, refusalKeyOf, toCompatibleRequest } from "./compatible-request.ts";
import { type CompatibleServer, toServerModelId } from "./compatible-server.ts";
import { sendCompatibleRequest } from "./compatible-transport.ts";
import type { ProviderError } from "./errors.ts";
import { loadOpenAISdk } from "./openai-client.ts";
import type { Model, StreamContext, StreamOptions } from "./types.ts";

/** What is asked, and what earlier refusals have taught. */
export interface CompatibleRequest {
  server: CompatibleServer;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** What the server refused to take (see `refusalKeyOf`), added to here; shared by the requests of one stream function. */
  refused: Set<string>;
}

/**
 * Asks for an answer. Servers differ in what they know: what one refuses of `stream_options`, an effort, thinking and
 * images is left out, and the conversation asked again without it, or it could never go on.
 */
export async function openCompatibleAnswer(
  request: CompatibleRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { server, model, context, options } = request;
  const refused = new Set(request.refused);
  for (;;) {
    const body = toCompatibleRequest(model, context, { ...options, refused });
    try {
      const response = await sendCompatibleRequest(server, body, signal);
      for (const key of refused) request.refused.add(key);
      return response;
    } catch (cause) {
      const part = refusedPartOf(await describeFailure(cause, request));
      const key = part && refusalKeyOf(part, model);
      if (!key || refused.has(key) || !hasPart(body, part)) throw cause;
      refused.add(key);
    }
  }
}

/** Whatever broke a request or its answer. */
export async function describeFailure(
  cause: unknown,
  { server, model }: Pick<CompatibleRequest, "server" | "model">,
): Promise<ProviderError> {
  const modelId = toServerModelId(model.id);
  return toCompatibleError(cause, await loadOpenAISdk(), { server, modelId });
}
