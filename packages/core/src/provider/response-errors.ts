import { now } from "../infrastructure/clock.ts";
import type { Vendor } from "./endpoint.ts";
import { type ErrorFacts, kindOfResponse } from "./error-kinds.ts";
import { type Endpoint, hideKey, toOneLine } from "./error-text.ts";
import { ProviderError, type ProviderErrorType } from "./errors.ts";
import { asRecord, asString, isRecord, parseJson } from "./json-value.ts";
import { readStatedWindow } from "./overflow-wordings.ts";
import { parseRetryAfter, parseRetryHint } from "./retry-after.ts";

/** A response that is no answer: `body` is its text or its parsed JSON; an error inside a stream has no status. */
export interface FailedResponse {
  status: number | undefined;
  headers: Headers | undefined;
  body: unknown;
}

/** The error that a response with this status and body means; its message names the host and never the key. */
export function classifyResponse(
  response: FailedResponse,
  endpoint: Endpoint,
  vendor: Vendor,
): ProviderError {
  const { status, headers } = response;
  const facts = readFacts(response, endpoint);
  const kind = kindOfResponse(facts);
  const message =
    status !== undefined && status >= 300 && status < 400
      ? redirectMessage(response, endpoint, vendor)
      : `${describe(facts, status, endpoint.host)}${hintFor(kind, status, vendor)}`;
  return new ProviderError(message, kind, {
    statusCode: status,
    retryAfterMs: waitOf(kind, headers, facts),
    contextWindow: kind === "context_overflow" ? readStatedWindow(facts.text) : undefined,
  });
}

/** Vendors, compatible servers and gateways differ in where they put the error and in what they call its parts. */
function readFacts({ status, body }: FailedResponse, endpoint: Endpoint): ErrorFacts {
  const parsed = typeof body === "string" ? parseJson(body) : body;
  const outer = asRecord(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = isRecord(outer.error) ? outer.error : outer;
  const plain = typeof body === "string" ? body : JSON.stringify(body);
  const message = [error.message, outer.error, outer.detail].map(asString).find((text) => text !== "");
  // OpenRouter keeps what the server behind it said in here.
  const upstream = asString(asRecord(error.metadata).raw);
  const numericCode = Number(error.code);
  return {
    status: status ?? (numericCode >= 400 && numericCode < 600 ? numericCode : undefined),
    type: error.type === "error" ? "" : asString(error.type),
    code: asString(asRecord(error.details).error_code) || (numericCode > 0 ? "" : asString(error.code)),
    text: hideKey([message ?? plain, upstream].filter((part) => part).join(": "), endpoint),
  };
}

function describe({ type, code, text }: ErrorFacts, status: number | undefined, host: string): string {
  const cause = [code || type, toOneLine(text)].filter((part) => part !== "").join(": ");
  if (status === undefined) return `${host} broke off the answer: ${cause}`;
  return `${host} answered ${status}: ${cause || "(empty)"}`;
}

function redirectMessage(
  { status, headers }: FailedResponse,
  endpoint: Endpoint,
  { urlVariable }: Vendor,
): string {
  const location = headers?.get("location") ?? "";
  const target = location
    ? ` to ${toOneLine(hideKey(URL.parse(location)?.host ?? location, endpoint), 100)}`
    : "";
  return `${endpoint.host} answered ${status}, a redirect${target}. The key is not sent there: if it is right, set ${urlVariable} to it.`;
}

function hintFor(
  kind: ProviderErrorType,
  status: number | undefined,
  { keyVariable, urlVariable }: Vendor,
): string {
  if (kind === "auth") return ` (check ${keyVariable})`;
  if (kind === "quota") return " (check the plan and the credit of the account)";
  if (status === 404) return ` (check the model's name and ${urlVariable})`;
  return "";
}

function waitOf(
  kind: ProviderErrorType,
  headers: Headers | undefined,
  { text }: ErrorFacts,
): number | undefined {
  const stated = headers && parseRetryAfter(headers, now());
  return stated ?? (kind === "rate_limit" || kind === "overloaded" ? parseRetryHint(text) : undefined);
}
