import type * as OpenAISdk from "openai";
import { isLoopbackUrl } from "../../infrastructure/urls.ts";
import { classifyResponse, isRefusedConnection } from "../classify-error.ts";
import { ProviderError } from "../errors.ts";
import { toSdkError } from "../transport.ts";
import { asRecord, asString } from "../wire-format.ts";
import { addressOf, type CompatibleDispensable, type CompatibleServer } from "./request.ts";
import { firstChoice } from "./response.ts";

/** The error in a body: of a failed response or, without a status, of an event inside an answer. */
export function toBodyError(
  body: unknown,
  server: CompatibleServer,
  { status, headers }: { status?: number; headers?: Headers } = {},
): ProviderError {
  return classifyResponse({ status, headers, body }, server.shown, server.vendor);
}

/** The error that an event reports instead of an answer, if any. */
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
 * Converts any failure of a request. The message names the host and never the key.
 *
 * @param modelId the model's id on the server.
 */
export function toCompatibleError(
  error: unknown,
  sdk: typeof OpenAISdk,
  { server, modelId }: { server: CompatibleServer; modelId: string },
): ProviderError {
  const told = toSdkError(error, sdk, { endpoint: server.shown, vendor: server.vendor });
  if (isRefusedConnection(error)) return notRunningError(told, server);
  if (matchesNoTools(told.message) && CAN_BE_ABOUT_TOOLS.has(told.errorType)) {
    return noToolsError(told, server, modelId);
  }
  return isWrongPath(told, server) ? wrongPathError(told) : told;
}

/** True if the address may be that of the server instead of that of its API. */
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
  // Bun does not distinguish an unreachable proxy from an unreachable host behind it.
  const proxy = isLoopbackUrl(endpoint.baseUrl) ? "" : "; the proxy (HTTPS_PROXY) may be unreachable";
  const message = `Nothing answers at ${addressOf(server)} (ECONNREFUSED). Is the server "${name}" running? Its address is ${vendor.urlVariable}${proxy}.`;
  return new ProviderError(message, errorType);
}

// llama.cpp's server sends this error with status 500.
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
  const text = `${modelId} cannot use tools on the server "${server.name}", and diligent requires tools: ${advice}. ${message}`;
  return new ProviderError(text, "invalid_request", { statusCode });
}

/** The part of the request that the server rejected, if it may accept the conversation without it. */
export function refusedCompatiblePart({
  errorType,
  statusCode,
  message,
}: ProviderError): CompatibleDispensable | undefined {
  if (statusCode === undefined || (errorType !== "invalid_request" && errorType !== "server_error"))
    return undefined;
  return findRefusedPart(message);
}

/** The messages with which servers reject tools. */
const NO_TOOLS: readonly RegExp[] = [
  // Ollama: "registry.ollama.ai/library/gemma:latest does not support tools"; many gateways.
  /(does not|doesn't|do not|not) support (the )?['"`]?(tools?|function)\b/i,
  // vLLM: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set.
  /--enable-auto-tool-choice/i,
  // llama.cpp: "tools param requires --jinja flag".
  /(tools?|tool_choice)\b.*--jinja/i,
  // OpenRouter: "No endpoints found that support tool use".
  /no endpoints found that support tool/i,
  // Groq: "`tool calling` is not supported with this model"; gateways: "tools is not supported".
  /\b(tools?|tool_choice|tool[ _](use|calls?|calling)|function[ _]calling)['"`]? (param(eter)? )?(is|are) (not supported|unsupported|not enabled)/i,
];

/** The optional request parts that a server may name when it rejects a request. */
const REFUSALS: ReadonlyArray<{ part: CompatibleDispensable; wordings: readonly RegExp[] }> = [
  { part: "stream_options", wordings: [/stream_options|include_usage/] },
  { part: "reasoning_effort", wordings: [/reasoning[_. ]effort/i] },
  {
    part: "thinking",
    wordings: [/reasoning_content|reasoning_details/, /['"`.](reasoning|thinking)['"`]/],
  },
  {
    part: "images",
    wordings: [
      // llama.cpp: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj".
      /images?( input| content)?s? (is|are) not (supported|enabled)|\bmmproj\b/i,
      /(does not|doesn't|not) support (image|vision|multi-?modal)|not a multimodal model/i,
      // OpenRouter.
      /no endpoints found that support image/i,
      /(unknown|unsupported|invalid).{0,40}image_url|image_url.{0,40}(unsupported|not supported)/i,
    ],
  },
];

/** True if the message matches a known pattern. */
function matchesNoTools(message: string): boolean {
  return NO_TOOLS.some((wording) => wording.test(message));
}

/** The request part that a message names. */
function findRefusedPart(message: string): CompatibleDispensable | undefined {
  return REFUSALS.find(({ wordings }) => wordings.some((wording) => wording.test(message)))?.part;
}
