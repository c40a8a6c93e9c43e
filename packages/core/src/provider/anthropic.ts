import type * as AnthropicSdk from "@anthropic-ai/sdk";
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { Stream } from "@anthropic-ai/sdk/streaming";
import { now } from "../infrastructure/runtime.ts";
import { thinkingOf, toAnthropicRequest } from "./anthropic/request.ts";
import { applyAnthropicEvent, createAnthropicAnswer, toAnthropicMessage } from "./anthropic/response.ts";
import { classifyResponse, type FailedResponse } from "./classify-error.ts";
import {
  checkEndpoint,
  type Endpoint,
  fetchOptionsFor,
  type ProviderEndpoint,
  toEndpoint,
  type Vendor,
  withWatch,
} from "./endpoint.ts";
import type { ProviderError } from "./errors.ts";
import { type Exchange, HEADERS_TIMEOUT_MS, streamAnswer, toEvents, toSdkError } from "./transport.ts";
import type { Model, StreamContext, StreamFunction, StreamOptions } from "./types.ts";

/** Loads the SDK before the first request, so that the request does not wait for it. */
export async function preloadAnthropic(): Promise<void> {
  await loadAnthropicSdk();
}

/**
 * Answers from Anthropic's Messages API. `baseUrl` is without `/v1`; the default is Anthropic's own. This function
 * does not retry, and it reads no key from the environment. An abort takes effect immediately, even if the server is
 * silent.
 */
export function createAnthropicStream(apiKey: string, baseUrl?: string): StreamFunction {
  const endpoint = toAnthropicEndpoint(apiKey, baseUrl);
  const rejectedThinking = new Set<string>();
  return (model, context, options) => {
    const watched = withWatch(endpoint, options.watchConnection);
    const request = { endpoint: watched, model, context, options, rejectedThinking };
    return streamAnswer(createExchange(request), options.signal);
  };
}

function createExchange(request: AnthropicRequest): Exchange {
  const { endpoint, model } = request;
  const answer = createAnthropicAnswer();
  return {
    host: endpoint.host,
    open: (signal) => openAnthropicAnswer(request, signal),
    apply: (event) => applyAnthropicEvent(answer, event),
    isFinished: () => answer.isFinished,
    toMessage: () => toAnthropicMessage(answer, { model: model.id, timestamp: now() }),
    toError: async (error) => toAnthropicError(error, await loadAnthropicSdk(), endpoint),
  };
}

/** The request, and what was learned from earlier rejections. */
interface AnthropicRequest {
  endpoint: ProviderEndpoint;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** Thinking that the API has rejected; new ids are added. The requests of one stream function share the set. */
  rejectedThinking: Set<string>;
}

/**
 * Requests an answer and returns its events. Newer models bind thinking to everything before it and reject the
 * request if that has changed, as after a compaction or in a resumed session with other tools (platform.claude.com,
 * "Preserved thinking"). The request is then repeated without its thinking; otherwise the conversation could never
 * continue.
 */
async function openAnthropicAnswer(
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
    const retryBody = toAnthropicRequest(model, context, { ...options, rejectedThinking: rejected });
    const answer = await sendAnthropicRequest(endpoint, retryBody, signal);
    for (const item of thinking) rejectedThinking.add(item);
    return answer;
  }
}

const DEFAULT_BASE_URL = "https://api.anthropic.com";

let sdk: Promise<typeof AnthropicSdk> | undefined;

/** Kept because creating a client takes as long as the rest of a request. */
const clients = new WeakMap<ProviderEndpoint, AnthropicSdk.Anthropic>();

/** The SDK, loaded on first use: loading it takes longer than loading everything else together. */
function loadAnthropicSdk(): Promise<typeof AnthropicSdk> {
  sdk ??= import("@anthropic-ai/sdk");
  return sdk;
}

/** `baseUrl` is without `/v1`; a trailing `/v1` is removed. */
function toAnthropicEndpoint(apiKey: string, baseUrl: string | undefined): ProviderEndpoint {
  return toEndpoint(apiKey, (baseUrl || DEFAULT_BASE_URL).trim().replace(/\/v1\/*$/, ""));
}

/** Sends one request and yields the events of its answer. Throws what the SDK throws, or a ProviderError. */
async function sendAnthropicRequest(
  endpoint: ProviderEndpoint,
  body: MessageCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  checkEndpoint(endpoint, ANTHROPIC_VENDOR);
  const client = clients.get(endpoint) ?? (await createClient(endpoint));
  clients.set(endpoint, client);
  // Not `messages.create`, which prints deprecation warnings to the console.
  const request = client.post<Stream<unknown>>("/v1/messages", {
    body,
    stream: true,
    signal,
    // The SDK also reads headers from the environment; none of them may replace the given key.
    headers: { Authorization: `Bearer ${endpoint.apiKey}`, "X-Api-Key": null },
  });
  return toEvents(await request.withResponse(), endpoint, ANTHROPIC_VENDOR);
}

async function createClient(endpoint: ProviderEndpoint): Promise<AnthropicSdk.Anthropic> {
  const { Anthropic } = await loadAnthropicSdk();
  return new Anthropic({
    apiKey: endpoint.apiKey,
    baseURL: endpoint.baseUrl,
    maxRetries: 0,
    timeout: HEADERS_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    fetchOptions: fetchOptionsFor(endpoint),
    fetch: (url, init) => endpoint.fetch(url instanceof Request ? url.url : url, init),
  });
}

/** The names used in messages about a missing key or an invalid address. */
export const ANTHROPIC_VENDOR: Vendor = {
  name: "Anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  keyPlaceholder: "[key of anthropic]",
  urlVariable: "ANTHROPIC_BASE_URL",
};

/** Converts any failure of a request into a ProviderError. Its message names the host and never the key. */
export function toAnthropicError(
  error: unknown,
  sdk: typeof AnthropicSdk,
  endpoint: Endpoint,
): ProviderError {
  return toSdkError(error, sdk, { endpoint, vendor: ANTHROPIC_VENDOR });
}

/** The error for a response with this status and body. */
export function toResponseError(response: FailedResponse, endpoint: Endpoint): ProviderError {
  return classifyResponse(response, endpoint, ANTHROPIC_VENDOR);
}

/** True if the API rejected thinking blocks of earlier answers: it accepts the conversation without them. */
export function isThinkingRejection({ errorType, statusCode, message }: ProviderError): boolean {
  const isAboutBlocks = /thinking/.test(message) && !/thinking\.(type|budget)|budget_tokens/.test(message);
  return errorType === "invalid_request" && statusCode === 400 && isAboutBlocks;
}
