import type { ProviderErrorType } from "./errors.ts";
import { isOverflowCode, isOverflowWording, isTooLargeForRate } from "./overflow-wordings.ts";

/** What a failed response says about itself; what it leaves out is an empty string. */
export interface ErrorFacts {
  /** The HTTP status, or what an error inside a stream gives in its place. */
  status: number | undefined;
  type: string;
  code: string;
  text: string;
}

const QUOTA =
  /credit balance is too low|insufficient[_ ](quota|credits?|balance|funds)|exceeded your current quota|payment required|billing hard limit|check your billing details/i;
const QUOTA_CODES = /spend_limit|billing|insufficient_(quota|balance|funds)|usage_limit_reached/;

/** Types and codes of Anthropic, OpenAI and Azure. Gateways serve either vendor, so one table is for both. */
const KIND_OF_WORD: Readonly<Record<string, ProviderErrorType>> = {
  rate_limit_error: "rate_limit",
  rate_limit_exceeded: "rate_limit",
  too_many_requests: "rate_limit",
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded",
  engine_overloaded: "overloaded",
  slow_down: "overloaded",
  api_error: "server_error",
  server_error: "server_error",
  internal_error: "server_error",
  internal_server_error: "server_error",
  service_unavailable: "server_error",
  service_unavailable_error: "server_error",
  upstream_error: "server_error",
  timeout_error: "timeout",
  timeout: "timeout",
  vector_store_timeout: "timeout",
  billing_error: "quota",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  account_deactivated: "auth",
  unsupported_country_region_territory: "auth",
  invalid_request_error: "invalid_request",
  invalid_prompt: "invalid_request",
  not_found_error: "invalid_request",
  model_not_found: "invalid_request",
};

const KIND_OF_STATUS: Readonly<Record<number, ProviderErrorType>> = {
  401: "auth",
  402: "quota",
  403: "auth",
  408: "timeout",
  // A lock that was not had in time: the vendors' own libraries try again.
  409: "server_error",
  413: "context_overflow",
  429: "rate_limit",
  529: "overloaded",
};

// A status that says by itself what is wrong, whatever words come with it.
const SPEAKS_FOR_ITSELF: ReadonlySet<number | undefined> = new Set([401, 403, 404, 429]);

const PASSING: ReadonlySet<ProviderErrorType> = new Set([
  "rate_limit",
  "overloaded",
  "server_error",
  "timeout",
]);

/** What kind of failure a response is: what it says counts before the status that it came with. */
export function kindOfResponse(facts: ErrorFacts): ProviderErrorType {
  const { status, type, code, text } = facts;
  const known = KIND_OF_WORD[code] ?? KIND_OF_WORD[type];
  if (known === "quota" || QUOTA_CODES.test(`${code} ${type}`) || QUOTA.test(text)) return "quota";
  if (isOverflow(facts, known)) return "context_overflow";
  if (status === undefined) return known ?? "unknown";
  return kindOfStatus(status, known);
}

function isOverflow({ status, type, code, text }: ErrorFacts, known: ProviderErrorType | undefined): boolean {
  if (isOverflowCode(code) || isOverflowCode(type) || isTooLargeForRate(text)) return true;
  const isElsewhere = known !== undefined && known !== "invalid_request" && known !== "server_error";
  return !SPEAKS_FOR_ITSELF.has(status) && !isElsewhere && isOverflowWording(text);
}

function kindOfStatus(status: number, known: ProviderErrorType | undefined): ProviderErrorType {
  if (status < 300) return known ?? "invalid_response";
  const byStatus = KIND_OF_STATUS[status];
  if (byStatus) return byStatus;
  if (status >= 500) return known === "overloaded" || known === "rate_limit" ? known : "server_error";
  if (status < 400) return "invalid_response";
  // The request is refused as it is: whatever else is said, the next attempt would be, too.
  return known === undefined || PASSING.has(known) ? "invalid_request" : known;
}
