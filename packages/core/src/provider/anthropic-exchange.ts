import { isThinkingRejection, toAnthropicError } from "./anthropic-errors.ts";
import { thinkingOf, toAnthropicRequest } from "./anthropic-request.ts";
import { loadAnthropicSdk, sendAnthropicRequest } from "./anthropic-transport.ts";
import type { ProviderEndpoint } from "./endpoint.ts";
import type { Model, StreamContext, StreamOptions } from "./types.ts";

/** What is asked, and what earlier refusals have taught. */
export interface AnthropicRequest {
  endpoint: ProviderEndpoint;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** Thinking that the API refused to take back, added to here; shared by the requests of one stream function. */
  rejectedThinking: Set<string>;
}

/**
 * Asks for an answer and returns its events. Newer models bind thinking to everything before it and refuse the request
 * when that has changed, as after a compaction or a resumed session with other tools (platform.claude.com, "Preserved
 * thinking"). Such a conversation is asked again without the thinking it holds, or it could never go on.
 */
export async function openAnthropicAnswer(
  request: AnthropicRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  const { endpoint, model, context, options, rejectedThinking } = request;
  const body = toAnthropicRequest(model, context, { ...options, rejectedThinking });
  try {
    return await sendAnthropicRequest(endpoint, body, signal);
  } catch (cause) {
    const thinking = thinkingOf(body);
    const error = toAnthropicError(cause, await loadAnthropicSdk(), endpoint);
    if (!isThinkingRejection(error) || thinking.length === 0) throw error;
    const rejected = new Set([...rejectedThinking, ...thinking]);
    const mended = toAnthropicRequest(model, context, { ...options, rejectedThinking: rejected });
    const answer = await sendAnthropicRequest(endpoint, mended, signal);
    for (const item of thinking) rejectedThinking.add(item);
    return answer;
  }
}
