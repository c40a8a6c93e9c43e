import { now } from "../infrastructure/runtime.ts";
import { toolCallsOf } from "../types.ts";
import {
  type CompatibleRequest,
  describeFailure,
  openCompatibleAnswer,
  readCompatibleAnswer,
} from "./chat-completions/exchange.ts";
import { toCompatibleServer } from "./chat-completions/request.ts";
import {
  applyCompatibleEvent,
  createCompatibleAnswer,
  toCompatibleMessage,
} from "./chat-completions/response.ts";
import { withWatch } from "./endpoint.ts";
import { type Exchange, streamAnswer } from "./transport.ts";
import type { StreamFunction } from "./types.ts";

/**
 * Answers from any server with OpenAI's Chat Completions API, such as Ollama, llama.cpp, vLLM, LM Studio or a
 * gateway. `name` is the configured name: models are `NAME/MODEL`, and MODEL is sent. `baseUrl` usually ends in
 * `/v1`. This function does not retry, and it reads no key from the environment. An abort takes effect immediately,
 * even if the server is silent.
 */
export function createCompatibleStream(
  name: string,
  server: { baseUrl: string; apiKey?: string | undefined },
): StreamFunction {
  const described = toCompatibleServer(name, server);
  const refused = new Set<string>();
  return (model, context, options) => {
    const endpoint = withWatch(described.endpoint, options.watchConnection);
    const server = { ...described, endpoint };
    return streamAnswer(createExchange({ server, model, context, options, refused }), options.signal);
  };
}

function createExchange(request: CompatibleRequest): Exchange {
  const { server, model, context } = request;
  const turns = context.messages.filter((message) => message.role === "assistant");
  const answer = createCompatibleAnswer(turns.flatMap(toolCallsOf).map(({ id }) => id));
  return {
    host: server.endpoint.host,
    open: async (signal) =>
      readCompatibleAnswer(await openCompatibleAnswer(request, signal), { server, answer }),
    apply: (event) => applyCompatibleEvent(answer, event),
    isFinished: () => answer.isFinished,
    toMessage: () =>
      toCompatibleMessage(answer, { model: model.id, provider: server.name, timestamp: now() }),
    toError: (error) => describeFailure(error, request),
  };
}
