import type * as AnthropicSdk from "@anthropic-ai/sdk";
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { Stream } from "@anthropic-ai/sdk/streaming";
import { toResponseError } from "./anthropic-errors.ts";
import type { Endpoint } from "./error-text.ts";
import { ProviderError } from "./errors.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

// Until the headers; a large prompt may be read for minutes before the first byte.
const HEADERS_TIMEOUT_MS = 600_000;
// More than enough for the first 200 characters of a page that is no answer.
const MAX_ERROR_BYTES = 4096;

export interface AnthropicEndpoint extends Endpoint {
  baseUrl: string;
}

let sdk: Promise<typeof AnthropicSdk> | undefined;

/** The SDK, loaded when it is first needed: it takes longer to load than everything else together. */
export function loadAnthropicSdk(): Promise<typeof AnthropicSdk> {
  sdk ??= import("@anthropic-ai/sdk");
  return sdk;
}

/** `baseUrl` is without `/v1`; one that ends in it is taken as meant. */
export function toAnthropicEndpoint(apiKey: string, baseUrl: string | undefined): AnthropicEndpoint {
  const url = (baseUrl || DEFAULT_BASE_URL).trim().replace(/\/+$/, "").replace(/\/v1$/, "");
  return { apiKey, baseUrl: url, host: URL.parse(url)?.host || url };
}

/** Sends one request; the events of its answer follow. Throws what the SDK throws, or a ProviderError. */
export async function sendAnthropicRequest(
  endpoint: AnthropicEndpoint,
  body: MessageCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  checkEndpoint(endpoint);
  const client = await createClient(endpoint);
  // Not `messages.create`, which prints to the console about models that are to be retired.
  const request = client.post<Stream<unknown>>("/v1/messages", {
    body,
    stream: true,
    signal,
    // The SDK takes headers from the environment as well: none of them may replace the key that was given.
    headers: { Authorization: `Bearer ${endpoint.apiKey}`, "X-Api-Key": null },
  });
  const { data, response } = await request.withResponse();
  const contentType = response.headers.get("content-type") ?? "text/event-stream";
  if (/event-stream/i.test(contentType)) return data;
  const { status, headers } = response;
  throw toResponseError({ status, headers, body: await readBeginning(response) }, endpoint);
}

async function createClient({ apiKey, baseUrl }: AnthropicEndpoint): Promise<AnthropicSdk.Anthropic> {
  const { Anthropic } = await loadAnthropicSdk();
  return new Anthropic({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: HEADERS_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    // Followed, a redirect would carry the conversation, and perhaps the key, to an address nobody chose.
    fetchOptions: { redirect: "manual" },
  });
}

function checkEndpoint({ apiKey, baseUrl }: AnthropicEndpoint): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ProviderError(
      apiKey === ""
        ? "There is no Anthropic key: set ANTHROPIC_API_KEY."
        : "The Anthropic key holds characters that no key has: check ANTHROPIC_API_KEY.",
      "auth",
    );
  }
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) {
    throw new ProviderError(
      `The base URL is no http address: check ANTHROPIC_BASE_URL (${baseUrl}).`,
      "invalid_request",
    );
  }
}

async function readBeginning(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES));
}
