import type * as OpenAISdk from "openai";
import { fetchOptionsFor, type ProviderEndpoint } from "./endpoint.ts";
import { HEADERS_TIMEOUT_MS } from "./sdk-answer.ts";

let sdk: Promise<typeof OpenAISdk> | undefined;

/** Making one takes as long as the rest of a request. */
const clients = new WeakMap<ProviderEndpoint, OpenAISdk.OpenAI>();

/** The SDK, loaded when it is first needed: it takes longer to load than everything else together. */
export function loadOpenAISdk(): Promise<typeof OpenAISdk> {
  sdk ??= import("openai");
  return sdk;
}

/** A client of the SDK that repeats nothing, prints nothing and takes nothing from the environment; one for an endpoint. */
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
