import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { checkEndpoint, type ProviderEndpoint, toEndpoint } from "./endpoint.ts";
import { openOpenAIClient } from "./openai-client.ts";
import { OPENAI_VENDOR } from "./openai-errors.ts";
import { toEvents } from "./sdk-answer.ts";

const DEFAULT_BASE_URL = "https://api.openai.com/v1";

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
  const client = await openOpenAIClient(endpoint);
  return toEvents(await client.responses.create(body, { signal }).withResponse(), endpoint, OPENAI_VENDOR);
}
