import type * as AnthropicSdk from "@anthropic-ai/sdk";
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { Stream } from "@anthropic-ai/sdk/streaming";
import { ANTHROPIC_VENDOR } from "./anthropic-errors.ts";
import { checkEndpoint, fetchOptionsFor, type ProviderEndpoint, toEndpoint } from "./endpoint.ts";
import { HEADERS_TIMEOUT_MS, toEvents } from "./sdk-answer.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

let sdk: Promise<typeof AnthropicSdk> | undefined;

/** Making one takes as long as the rest of a request. */
const clients = new WeakMap<ProviderEndpoint, AnthropicSdk.Anthropic>();

/** The SDK, loaded when it is first needed: it takes longer to load than everything else together. */
export function loadAnthropicSdk(): Promise<typeof AnthropicSdk> {
  sdk ??= import("@anthropic-ai/sdk");
  return sdk;
}

/** `baseUrl` is without `/v1`; one that ends in it is taken as meant. */
export function toAnthropicEndpoint(apiKey: string, baseUrl: string | undefined): ProviderEndpoint {
  return toEndpoint(apiKey, (baseUrl || DEFAULT_BASE_URL).trim().replace(/\/v1\/*$/, ""));
}

/** Sends one request; the events of its answer follow. Throws what the SDK throws, or a ProviderError. */
export async function sendAnthropicRequest(
  endpoint: ProviderEndpoint,
  body: MessageCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  checkEndpoint(endpoint, ANTHROPIC_VENDOR);
  const client = clients.get(endpoint) ?? (await createClient(endpoint));
  clients.set(endpoint, client);
  // Not `messages.create`, which prints to the console about models that are to be retired.
  const request = client.post<Stream<unknown>>("/v1/messages", {
    body,
    stream: true,
    signal,
    // The SDK takes headers from the environment as well: none of them may replace the key that was given.
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
  });
}
