import type * as OpenAISdk from "openai";
import { isLoopbackUrl } from "../infrastructure/loopback-url.ts";
import { firstChoice } from "./compatible-events.ts";
import type { Dispensable } from "./compatible-request.ts";
import { addressOf, type CompatibleServer } from "./compatible-server.ts";
import { findRefusedPart, isNoToolsWording } from "./compatible-wordings.ts";
import { isRefusedConnection } from "./connection-errors.ts";
import { ProviderError } from "./errors.ts";
import { asRecord, asString } from "./json-value.ts";
import { classifyResponse } from "./response-errors.ts";
import { toSdkError } from "./sdk-answer.ts";

/** The error a body means: of a response that is no answer, or, without a status, of an event inside an answer. */
export function toBodyError(
  body: unknown,
  server: CompatibleServer,
  { status, headers }: { status?: number; headers?: Headers } = {},
): ProviderError {
  return classifyResponse({ status, headers, body }, server.shown, server.vendor);
}

/** What an event reports in the place of an answer, if it does. */
export function failureOf(data: unknown): unknown {
  const event = asRecord(data);
  const choice = firstChoice(event);
  if (isTold(event.error) || event.object === "error" || event.type === "error") return event;
  if (isTold(choice.error)) return choice;
  if (choice.finish_reason === "error") return { type: "server_error", message: "no reason was given" };
  const isAnswer = "choices" in event || "usage" in event;
  return !isAnswer && asString(event.message) + asString(event.detail) !== "" ? event : undefined;
}

function isTold(error: unknown): boolean {
  return typeof error === "string" ? error !== "" : Object.keys(asRecord(error)).length > 0 || error === true;
}

/**
 * Whatever broke a request, as the error that everybody else reads. Its message names the host and never the key.
 *
 * @param modelId as the server knows it.
 */
export function toCompatibleError(
  error: unknown,
  sdk: typeof OpenAISdk,
  { server, modelId }: { server: CompatibleServer; modelId: string },
): ProviderError {
  const told = toSdkError(error, sdk, { endpoint: server.shown, vendor: server.vendor });
  if (isRefusedConnection(error)) return notRunningError(told, server);
  if (isNoToolsWording(told.message) && CAN_BE_ABOUT_TOOLS.has(told.errorType)) {
    return noToolsError(told, server, modelId);
  }
  return isWrongPath(told, server) ? wrongPathError(told) : told;
}

/** True when the address may be that of the server instead of that of its API. */
function isWrongPath({ errorType, statusCode }: ProviderError, { endpoint }: CompatibleServer): boolean {
  const isMissing = statusCode === 404 || (statusCode === 200 && errorType === "invalid_response");
  return isMissing && !/\/v\d\w*$/.test(endpoint.baseUrl);
}

function wrongPathError({ message, errorType, statusCode }: ProviderError): ProviderError {
  const text = `${message} (most servers have this API below /v1, which the address does not end in)`;
  return new ProviderError(text, errorType, { statusCode });
}

function notRunningError({ errorType }: ProviderError, server: CompatibleServer): ProviderError {
  const { name, vendor, endpoint } = server;
  // Bun does not tell a proxy that cannot be reached from the host behind it.
  const proxy = isLoopbackUrl(endpoint.baseUrl) ? "" : "; a proxy (HTTPS_PROXY) may be what does not answer";
  const message = `Nothing answers at ${addressOf(server)} (ECONNREFUSED). Is the server "${name}" running? Its address is ${vendor.urlVariable}${proxy}.`;
  return new ProviderError(message, errorType);
}

// llama.cpp's server answers it with a 500.
const CAN_BE_ABOUT_TOOLS = new Set<ProviderError["errorType"]>([
  "invalid_request",
  "server_error",
  "invalid_response",
  "unknown",
]);

function noToolsError(
  { message, statusCode }: ProviderError,
  server: CompatibleServer,
  modelId: string,
): ProviderError {
  const advice = "choose another model, or start the server with tool calls enabled";
  const text = `${modelId} cannot use tools on the server "${server.name}", and diligent works through tools: ${advice}. ${message}`;
  return new ProviderError(text, "invalid_request", { statusCode });
}

/** What of a request the server refused, when it may accept the same conversation without that. */
export function refusedPartOf({ errorType, statusCode, message }: ProviderError): Dispensable | undefined {
  if (statusCode === undefined || (errorType !== "invalid_request" && errorType !== "server_error"))
    return undefined;
  return findRefusedPart(message);
}
