import type * as OpenAISdk from "openai";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { classifyResponse, toConnectionError } from "../classify-error.ts";
import {
  checkEndpoint,
  type Endpoint,
  fetchOptionsFor,
  type ProviderEndpoint,
  toEndpoint,
  type Vendor,
} from "../endpoint.ts";
import { ProviderError } from "../errors.ts";
import { HEADERS_TIMEOUT_MS, textOfSdkMessage, toEvents, toSdkError } from "../transport.ts";
import { asRecord, isRecord } from "../wire-format.ts";

let sdk: Promise<typeof OpenAISdk> | undefined;

/** Kept because creating a client takes as long as the rest of a request. */
const clients = new WeakMap<ProviderEndpoint, OpenAISdk.OpenAI>();

/** The SDK, loaded on first use: loading it takes longer than loading everything else together. */
export function loadOpenAISdk(): Promise<typeof OpenAISdk> {
  sdk ??= import("openai");
  return sdk;
}

/** A client of the SDK that does not retry, print or read the environment; one per endpoint. */
export async function openOpenAIClient(endpoint: ProviderEndpoint): Promise<OpenAISdk.OpenAI> {
  const client = clients.get(endpoint) ?? (await createClient(endpoint));
  clients.set(endpoint, client);
  return client;
}

async function createClient(endpoint: ProviderEndpoint): Promise<OpenAISdk.OpenAI> {
  const { OpenAI } = await loadOpenAISdk();
  return new OpenAI({
    apiKey: endpoint.apiKey,
    baseURL: endpoint.baseUrl,
    // The SDK would read these from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: HEADERS_TIMEOUT_MS,
    logLevel: "off",
    fetchOptions: fetchOptionsFor(endpoint),
    // The SDK also reads headers from the environment, and no option disables that.
    fetch: (url, init) =>
      endpoint.fetch(url instanceof Request ? url.url : url, {
        ...init,
        headers: toHeaders(endpoint.apiKey),
      }),
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

/** The names used in messages about a missing key or an invalid address. */
export const OPENAI_VENDOR: Vendor = {
  name: "OpenAI",
  keyVariable: "OPENAI_API_KEY",
  keyPlaceholder: "[key of openai]",
  urlVariable: "OPENAI_BASE_URL",
};

/** Converts any failure of a request into a ProviderError. Its message names the host and never the key. */
export function toOpenAIError(error: unknown, sdk: typeof OpenAISdk, endpoint: Endpoint): ProviderError {
  return toSdkError(error, sdk, { endpoint, vendor: OPENAI_VENDOR });
}

/**
 * Classifies an error of an application's own client: anything that a copy of the `openai` package, `fetch` or a
 * parser throws becomes the error that `withRetry` and the agent loop understand. Its message names OpenAI instead of
 * a host, since the error does not contain the address. A ProviderError is returned unchanged.
 */
export function classifyOpenAIError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const endpoint = { host: OPENAI_VENDOR.name, apiKey: "" };
  if (hasClass(error, "APIConnectionTimeoutError"))
    return new ProviderError(`${endpoint.host} did not answer in time.`, "timeout");
  if (!(error instanceof Error) || !hasClass(error, "APIError"))
    return toConnectionError(error, endpoint, OPENAI_VENDOR);
  if (hasClass(error, "APIConnectionError"))
    return toConnectionError(error.cause ?? error, endpoint, OPENAI_VENDOR);
  const { status, headers, error: body } = asRecord(error);
  const response = {
    status: typeof status === "number" ? status : undefined,
    headers: headers instanceof Headers ? headers : undefined,
    body: isRecord(body) ? { error: body } : textOfSdkMessage(error.message),
  };
  return classifyResponse(response, endpoint, OPENAI_VENDOR);
}

/** Compares class names: `instanceof` would recognize only one copy of the SDK, which would have to be loaded first. */
function hasClass(error: unknown, name: string): boolean {
  for (let layer: unknown = error; layer instanceof Object; layer = Object.getPrototypeOf(layer)) {
    if (layer.constructor.name === name) return true;
  }
  return false;
}

// "The encrypted content … could not be verified", "Item 'rs_…' of type 'reasoning' was provided without its required
// following item", "Reasoning input items can only be provided to a reasoning or computer use model", "Item 'fc_…' … without its required 'reasoning' item" and "Item with id 'rs_…' not found".
const REASONING_ITEM =
  /encrypted[_ ]content.*(verified|decrypted|parsed)|invalid_encrypted_content|provided without its required|reasoning input items|item with id '?\w+'? not found/i;

// "Encrypted content is not supported with this model", "Unsupported parameter: 'reasoning.effort' is not supported …".
const REASONING_FIELD =
  /encrypted[_ ]content|'?(reasoning(\.effort)?|include)'? (is not|does not) support|unsupported (parameter|value): '(reasoning|include)/i;

/** The optional parts of a request. */
export type OpenAIDispensable = "reasoning items" | "summary" | "reasoning";

/** The part of a request that the API rejected, if it accepts the same conversation without it. */
export function refusedOpenAIPart({
  errorType,
  statusCode,
  message,
}: ProviderError): OpenAIDispensable | undefined {
  // For an item that is not found the API returns 404, whose hint would otherwise name the model.
  if (errorType !== "invalid_request" || (statusCode !== 400 && statusCode !== 404)) return undefined;
  if (REASONING_ITEM.test(message)) return "reasoning items";
  if (/reasoning[. ]summar/i.test(message)) return "summary";
  return REASONING_FIELD.test(message) ? "reasoning" : undefined;
}

const DEFAULT_BASE_URL = "https://api.openai.com/v1";

/** `baseUrl` is used unchanged, including `/v1` if the server needs it. */
export function toOpenAIEndpoint(apiKey: string, baseUrl: string | undefined): ProviderEndpoint {
  return toEndpoint(apiKey, baseUrl || DEFAULT_BASE_URL);
}

/** Sends one request and yields the events of its answer. Throws what the SDK throws, or a ProviderError. */
export async function sendOpenAIRequest(
  endpoint: ProviderEndpoint,
  body: ResponseCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  checkEndpoint(endpoint, OPENAI_VENDOR);
  const client = await openOpenAIClient(endpoint);
  return toEvents(await client.responses.create(body, { signal }).withResponse(), endpoint, OPENAI_VENDOR);
}
