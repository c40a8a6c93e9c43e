import type * as AnthropicSdk from "@anthropic-ai/sdk";
import { now } from "../infrastructure/clock.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type Endpoint, hideKey, toOneLine } from "./error-text.ts";
import { ProviderError, type ProviderErrorType } from "./errors.ts";
import { asRecord, asString, parseJson } from "./json-value.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** A response that is no answer: `body` is its text or its parsed JSON; an error inside a stream has no status. */
export interface FailedResponse {
  status: number | undefined;
  headers: Headers | undefined;
  body: unknown;
}

interface Facts {
  status: number | undefined;
  type: string;
  code: string;
  text: string;
}

// The API has no type of its own for an overflow, so these are the wordings seen from it and from gateways before it.
const OVERFLOW =
  /(prompt|input) is too long|too many (input )?tokens|context[_ ](length|window|limit)|maximum context|exceeds? (the )?(model'?s? )?context/i;
const QUOTA =
  /credit balance is too low|insufficient[_ ](quota|credits?)|exceeded your current quota|payment required/i;
const QUOTA_CODES = /spend_limit|billing/;

const KIND_OF_TYPE: Readonly<Record<string, ProviderErrorType>> = {
  rate_limit_error: "rate_limit",
  overloaded_error: "overloaded",
  api_error: "server_error",
  timeout_error: "timeout",
  billing_error: "quota",
  authentication_error: "auth",
  permission_error: "auth",
  request_too_large: "context_overflow",
  invalid_request_error: "invalid_request",
  not_found_error: "invalid_request",
};

const KIND_OF_STATUS: Readonly<Record<number, ProviderErrorType>> = {
  401: "auth",
  402: "quota",
  403: "auth",
  408: "timeout",
  413: "context_overflow",
  429: "rate_limit",
  529: "overloaded",
};

/** Whatever broke a request, as the error that everybody else reads. Its message names the host and never the key. */
export function toAnthropicError(
  error: unknown,
  sdk: typeof AnthropicSdk,
  endpoint: Endpoint,
): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof sdk.APIConnectionTimeoutError) {
    return new ProviderError(`${endpoint.host} did not answer in time.`, "timeout");
  }
  if (error instanceof sdk.APIConnectionError) return toConnectionError(error.cause ?? error, endpoint);
  if (error instanceof sdk.APIError) return toResponseError(toFailedResponse(error), endpoint);
  return toConnectionError(error, endpoint);
}

/** The error that a response with this status and body means. */
export function toResponseError(response: FailedResponse, endpoint: Endpoint): ProviderError {
  const { status, headers } = response;
  const { host } = endpoint;
  const facts = readFacts(response, endpoint);
  const kind = kindOf(facts);
  const message =
    status !== undefined && status >= 300 && status < 400
      ? redirectMessage(endpoint, status, headers?.get("location") ?? "")
      : `${describe(facts, host)}${hintFor(kind, status)}`;
  return new ProviderError(message, kind, {
    statusCode: status,
    retryAfterMs: headers && parseRetryAfter(headers, now()),
  });
}

/** True when the API refused thinking blocks of earlier answers: it accepts the same conversation without them. */
export function isThinkingRejection({ errorType, statusCode, message }: ProviderError): boolean {
  const isAboutBlocks = /thinking/.test(message) && !/thinking\.(type|budget)|budget_tokens/.test(message);
  return errorType === "invalid_request" && statusCode === 400 && isAboutBlocks;
}

function toFailedResponse(error: InstanceType<typeof AnthropicSdk.APIError>): FailedResponse {
  const { status, headers, error: body, message } = error;
  // Without a JSON body the SDK keeps the text in its message only, after the status, or a phrase where there is none.
  const text = message.replace(/^\d{3} (status code \(no body\)$)?/, "");
  return { status, headers, body: body ?? text };
}

function readFacts({ status, body }: FailedResponse, endpoint: Endpoint): Facts {
  const json = typeof body === "string" ? parseJson(body) : body;
  const error = asRecord(asRecord(json).error);
  const plain = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status,
    type: asString(error.type),
    code: asString(asRecord(error.details).error_code),
    text: hideKey(asString(error.message) || plain, endpoint),
  };
}

function kindOf({ status, type, code, text }: Facts): ProviderErrorType {
  const known = KIND_OF_TYPE[type];
  if (known === "quota" || QUOTA_CODES.test(code) || QUOTA.test(text)) return "quota";
  const isRefused = status === 400 || type === "invalid_request_error";
  if (isRefused && (code === "prompt_too_long" || OVERFLOW.test(text))) return "context_overflow";
  if (status === undefined || status < 300)
    return known ?? (status === undefined ? "unknown" : "invalid_response");
  const byStatus = KIND_OF_STATUS[status];
  if (byStatus) return byStatus;
  if (status >= 500) return known === "overloaded" || known === "rate_limit" ? known : "server_error";
  return status >= 400 ? (known ?? "invalid_request") : "invalid_response";
}

function describe({ status, type, text }: Facts, host: string): string {
  const cause = [type, toOneLine(text)].filter((part) => part !== "").join(": ");
  if (status === undefined) return `${host} broke off the answer: ${cause}`;
  return `${host} answered ${status}: ${cause || "(empty)"}`;
}

function redirectMessage(endpoint: Endpoint, status: number, location: string): string {
  const target = location
    ? ` to ${toOneLine(hideKey(URL.parse(location)?.host ?? location, endpoint), 100)}`
    : "";
  return `${endpoint.host} answered ${status}, a redirect${target}. The key is not sent there: if it is right, set ANTHROPIC_BASE_URL to it.`;
}

function hintFor(kind: ProviderErrorType, status: number | undefined): string {
  if (kind === "auth") return " (check ANTHROPIC_API_KEY)";
  if (status === 404) return " (check the model's name and ANTHROPIC_BASE_URL)";
  return "";
}
