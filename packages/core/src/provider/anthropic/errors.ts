import type * as AnthropicSdk from "@anthropic-ai/sdk";
import { classifyResponse, type FailedResponse } from "../classify-error.ts";
import type { Endpoint, Vendor } from "../endpoint.ts";
import type { ProviderError } from "../errors.ts";
import { toSdkError } from "../transport.ts";

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
