import type * as OpenAISdk from "openai";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { checkEndpoint, fetchOptionsFor, type ProviderEndpoint, toEndpoint } from "./endpoint.ts";
import { OPENAI_VENDOR } from "./openai-errors.ts";
import { HEADERS_TIMEOUT_MS, toEvents } from "./sdk-answer.ts";

const DEFAULT_BASE_URL = "https://api.openai.com/v1";

let sdk: Promise<typeof OpenAISdk> | undefined;

/** The SDK, loaded when it is first needed: it takes longer to load than everything else together. */
export function loadOpenAISdk(): Promise<typeof OpenAISdk> {
  sdk ??= import("openai");
  return sdk;
}

/** `baseUrl` is taken as it is: with `/v1`, where the server has that. */
export function toOpenAIEndpoint(apiKey: string, baseUrl: string | undefined): ProviderEndpoint {
  return toEndpoint(apiKey, baseUrl || DEFAULT_BASE_URL);
}

/** Sends one request; the events of its answer follow. Throws what the SDK throws, or a ProviderError. */
export async function sendOpenAIRequest(
  endpoint: ProviderEndpoint,
  body: ResponseCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  checkEndpoint(endpoint, OPENAI_VENDOR);
  const client = await createClient(endpoint);
  return toEvents(await client.responses.create(body, { signal }).withResponse(), endpoint, OPENAI_VENDOR);
}

async function createClient(endpoint: ProviderEndpoint): Promise<OpenAISdk.OpenAI> {
  const { OpenAI } = await loadOpenAISdk();
  return new OpenAI({
    apiKey: endpoint.apiKey,
    baseURL: endpoint.baseUrl,
    // The SDK would look for these in the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: HEADERS_TIMEOUT_MS,
    logLevel: "off",
    fetchOptions: fetchOptionsFor(endpoint),
    // It also takes headers from the environment, and there is no option against that.
    fetch: (url, init) => fetch(url, { ...init, headers: toHeaders(endpoint.apiKey) }),
  });
}

function toHeaders(apiKey: string): Record<string, string> {
  return {
    accept: "text/event-stream",
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    "user-agent": "diligent",
  };
}
