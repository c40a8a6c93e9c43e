import { HostLimitError } from "../infrastructure/network/host-limit.ts";
import { now } from "../infrastructure/runtime.ts";
import { type Endpoint, hideKey, toOneLine, type Vendor } from "./endpoint.ts";
import { ProviderError, type ProviderErrorType } from "./errors.ts";
import { parseRetryAfter, parseRetryHint } from "./retry-after.ts";
import { asRecord, asString, isRecord, parseJson } from "./wire-format.ts";

/** The fields of a failed response; missing ones are empty strings. */
interface ErrorFacts {
  /** The HTTP status, or the value that an error inside a stream has in its place. */
  status: number | undefined;
  type: string;
  code: string;
  text: string;
}

const QUOTA =
  /credit balance is too low|insufficient[_ ](quota|credits?|balance|funds)|exceeded your current quota|payment required|billing hard limit|check your billing details/i;
const QUOTA_CODES = /spend_limit|billing|insufficient_(quota|balance|funds)|usage_limit_reached/;

/** Types and codes of Anthropic, OpenAI and Azure. Gateways forward those of any vendor, so all share one table. */
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
  // A lock timeout: the vendors' own libraries retry it.
  409: "server_error",
  413: "context_overflow",
  429: "rate_limit",
  529: "overloaded",
};

// A status that determines the kind by itself, regardless of the message.
const SPEAKS_FOR_ITSELF: ReadonlySet<number | undefined> = new Set([401, 403, 404, 429]);

const PASSING: ReadonlySet<ProviderErrorType> = new Set([
  "rate_limit",
  "overloaded",
  "server_error",
  "timeout",
]);

/** Classifies a failed response: its message takes precedence over its status. */
function kindOfResponse(facts: ErrorFacts): ProviderErrorType {
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
  return !SPEAKS_FOR_ITSELF.has(status) && !isElsewhere && matchesOverflow(text);
}

function kindOfStatus(status: number, known: ProviderErrorType | undefined): ProviderErrorType {
  if (status < 300) return known ?? "invalid_response";
  const byStatus = KIND_OF_STATUS[status];
  if (byStatus) return byStatus;
  if (status >= 500) return known === "overloaded" || known === "rate_limit" ? known : "server_error";
  if (status < 400) return "invalid_response";
  // The request itself is rejected: a retry would be rejected too, regardless of the rest of the message.
  return known === undefined || PASSING.has(known) ? "invalid_request" : known;
}

/**
 * The messages with which servers report that a request does not fit the model, collected from their errors, sources
 * and issue trackers. Vendors and gateways forward each other's messages, so every adapter checks all patterns. Each
 * pattern is narrow enough to match only this error, and not a limit on `max_tokens` alone or a rate limit.
 */
const WORDINGS: readonly RegExp[] = [
  // Anthropic, Fireworks; Amazon Bedrock says "Input is too long for requested model".
  /(prompt|input) is too long/i,
  // Anthropic, for input and answer together, and for the bytes of a request.
  /exceed context limit/i,
  /request_too_large|request exceeds the maximum size/i,
  // OpenAI Responses; LiteLLM prefixes it with the name of an exception.
  /exceeds? the (model's )?context (window|length)/i,
  /exceeds? the (model's )?maximum (number of )?input tokens/i,
  /ContextWindowExceeded|context[_ ](length|window)[_ ]exceeded/i,
  // OpenAI Chat, Azure, vLLM, DeepSeek, OpenRouter, LiteLLM, SGLang.
  /maximum context length/i,
  // OpenAI and Azure, for a limit on the input alone; then for whole strings and lists, not for an id that is too
  // long.
  /input tokens exceed the configured limit/i,
  /string too long\. expected a string with maximum length \d{6,}|'input': array too long/i,
  // vLLM; "Prompt length (N) exceeds max length" and "longer than the maximum model length".
  /maximum model length|max_model_len|too long to fit into the model/i,
  /(prompt|input) length.* exceeds/i,
  /(context length is only|configured context size is) [\d,]+/i,
  // Together, SGLang.
  /longer than the model'?s context length/i,
  // llama.cpp and llamafile.
  /exceed_context_size|available context size|context size has been exceeded|request \([\d,]+ tokens\) exceeds/i,
  // LM Studio; for a limit reached inside an answer, and for a system prompt that is too long to keep.
  /greater than the context length|when context the overflows|not enough.*larger context length/i,
  /reached context length of|mid-generation context overflow|n_keep \(?\d+\)? ?>=? ?n_ctx/i,
  // Ollama.
  /prompt too long|input length exceeds the context length/i,
  // Text Generation Inference.
  /`inputs` tokens \+ `max_new_tokens` must be|`inputs` must have less than/i,
  // Google.
  /input token count.*(exceeds|only supports up to)/i,
  // xAI.
  /maximum prompt length is [\d,]+/i,
  // Groq, Cerebras.
  /reduce the length of (the|your) (messages|prompt|input)/i,
  // GitHub Copilot.
  /prompt token count of [\d,]+ exceeds/i,
  // MiniMax, z.ai.
  /context window exceeds limit|model_context_window_exceeded/i,
  // Moonshot.
  /exceeded model token limit/i,
  // Mistral names the limit as a maximum context length; Alibaba's model service as a range.
  /range of input length should be/i,
  // Volcengine and Zhipu.
  /tokens of image and text exceed|prompt exceeds max length/i,
  // Cohere, and others after it; Bedrock's "Too many tokens, please wait" is a rate.
  /too many (input |prompt )?tokens(?!, please wait| per)/i,
];

const CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "exceed_context_size_error",
  "model_context_window_exceeded",
  "prompt_too_long",
  "request_too_large",
]);

/** True for an error code or type that only means that a request is too long. */
export function isOverflowCode(code: string): boolean {
  return CODES.has(code);
}

/** True if the message matches a known overflow pattern. */
export function matchesOverflow(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}

/** Where the overflow messages state the limit. */
const STATED_LIMITS: readonly RegExp[] = [
  />=?\s*(?:n_ctx \()?([\d,]+)\)?(?:\s*(?:tokens\s*)?maximum|$)/i,
  /(?:maximum context length|maximum prompt length|context length|context size)(?: is| of)?(?: only)? \(?([\d,]+)/i,
  /(?:exceeds (?:the )?limit of|only supports up to|must be <=) ([\d,]+)/i,
  // Anthropic, for input and answer together; Google.
  /context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  /maximum number of tokens allowed \(?([\d,]+)/i,
];

// No model has so small a window: the number means something else.
const LEAST_LIMIT = 1_000;

/** The window in tokens that the message states; undefined if it states none. */
export function readStatedWindow(message: string): number | undefined {
  const stated = STATED_LIMITS.map((limit) => Number(limit.exec(message)?.[1]?.replaceAll(",", "")));
  return stated.find((tokens) => tokens >= LEAST_LIMIT);
}

/** Where the known messages state the size of the request. */
const STATED_REQUESTS: readonly RegExp[] = [
  // Anthropic: "prompt is too long: 215000 tokens > 200000 maximum"; "190000 + 20000 > 200000" includes the answer's
  // limit.
  /too long: ([\d,]+) tokens/i,
  /context limit: ([\d,]+) \+ ([\d,]+)/i,
  // OpenAI, Azure, vLLM, OpenRouter; the total of input and answer if only that is stated.
  /(?:messages|prompt|input) (?:resulted in|contains?|has) (?:at least )?([\d,]+) (?:input )?tokens/i,
  /requested (?:about |a total of )?([\d,]+) tokens/i,
  // Google, GitHub Copilot.
  /token count (?:of )?\(?([\d,]+)\)?/i,
  // xAI: "maximum prompt length is 131072 but the request contains 537812 tokens".
  /request contains ([\d,]+) tokens/i,
  // vLLM, llama.cpp.
  /(?<!maximum )prompt length (?:is )?\(?([\d,]+)/i,
  /prompt contains ([\d,]+)/i,
  /request \(([\d,]+) tokens\)/i,
];

/** The tokens of the rejected request that the message states; undefined if it states none. */
export function readStatedRequest(message: string): number | undefined {
  const stated = STATED_REQUESTS.map((size) => {
    const [, input = "", answer = "0"] = size.exec(message) ?? [];
    return Number(input.replaceAll(",", "")) + Number(answer.replaceAll(",", ""));
  });
  return stated.find((tokens) => tokens >= LEAST_LIMIT);
}

/**
 * True for a rate limit that is smaller than a single request (OpenAI, Groq): waiting never helps, but a shorter
 * request does.
 */
export function isTooLargeForRate(message: string): boolean {
  return /request too large.*tokens per min/i.test(message);
}

/** A failed response: `body` is its text or its parsed JSON; an error inside a stream has no status. */
export interface FailedResponse {
  status: number | undefined;
  headers: Headers | undefined;
  body: unknown;
}

/** The error for a response with this status and body. Its message names the host and never the key. */
export function classifyResponse(
  response: FailedResponse,
  endpoint: Endpoint,
  vendor: Vendor,
): ProviderError {
  const { status, headers } = response;
  const facts = readFacts(response, endpoint, vendor);
  const kind = kindOfResponse(facts);
  const message =
    status !== undefined && status >= 300 && status < 400
      ? redirectMessage(response, endpoint, vendor)
      : `${describe(facts, status, endpoint.host)}${hintFor(kind, status, vendor)}`;
  return new ProviderError(message, kind, {
    statusCode: status,
    retryAfterMs: waitOf(kind, headers, facts),
    contextWindow: kind === "context_overflow" ? readStatedWindow(facts.text) : undefined,
    requestTokens: kind === "context_overflow" ? readStatedRequest(facts.text) : undefined,
  });
}

/** Reads the facts of an error. Vendors, compatible servers and gateways put them in different places and fields. */
function readFacts({ status, body }: FailedResponse, endpoint: Endpoint, vendor: Vendor): ErrorFacts {
  const parsed = typeof body === "string" ? parseJson(body) : body;
  const outer = asRecord(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = isRecord(outer.error) ? outer.error : outer;
  const plain = typeof body === "string" ? body : JSON.stringify(body);
  const message = [error.message, outer.error, outer.detail].map(asString).find((text) => text !== "");
  // OpenRouter puts the message of the server behind it here.
  const upstream = asString(asRecord(error.metadata).raw);
  const numericCode = Number(error.code);
  return {
    status: status ?? (numericCode >= 400 && numericCode < 600 ? numericCode : undefined),
    type: error.type === "error" ? "" : asString(error.type),
    code: asString(asRecord(error.details).error_code) || (numericCode > 0 ? "" : asString(error.code)),
    text: hideKey([message ?? plain, upstream].filter((part) => part).join(": "), endpoint, vendor),
  };
}

function describe({ type, code, text }: ErrorFacts, status: number | undefined, host: string): string {
  const cause = [code || type, toOneLine(text)].filter((part) => part !== "").join(": ");
  if (status === undefined) return `${host} interrupted the answer: ${cause}`;
  return `${host} answered ${status}: ${cause || "(empty)"}`;
}

function redirectMessage({ status, headers }: FailedResponse, endpoint: Endpoint, vendor: Vendor): string {
  const location = headers?.get("location") ?? "";
  const target = location
    ? ` to ${toOneLine(hideKey(URL.parse(location)?.host ?? location, endpoint, vendor), 100)}`
    : "";
  return `${endpoint.host} answered ${status}, a redirect${target}. The key was not sent there. If the target is right, set ${vendor.urlVariable} to it.`;
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

/** A way in which a request can fail before its answer is complete. */
interface ConnectionFailure {
  /** The codes of Bun, the operating system and OpenSSL with this meaning. */
  codes: RegExp;
  errorType: ProviderErrorType;
  /** Completes "failed: …". */
  reason: string;
  /** One sentence of advice for the user. @param urlVariable the setting with the address. */
  advice(urlVariable: string): string;
}

// Bun does not distinguish an unreachable proxy from an unreachable host behind it.
const checkTheWay = (urlVariable: string) => `Check the network, HTTPS_PROXY and ${urlVariable}.`;
const checkAndRepeat = (urlVariable: string) =>
  `Check the network, HTTPS_PROXY and ${urlVariable}, then try again.`;

const FAILURES: readonly ConnectionFailure[] = [
  {
    codes: /^ECONNREFUSED$/,
    errorType: "network",
    reason: "the connection was refused",
    advice: checkTheWay,
  },
  {
    codes: /^(ENOTFOUND|EAI_\w+)$/,
    errorType: "network",
    reason: "the host name was not found",
    advice: checkTheWay,
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH)$/,
    errorType: "network",
    reason: "the network is unreachable",
    advice: checkTheWay,
  },
  {
    codes: /^EPROTO$/,
    errorType: "network",
    reason: "the TLS handshake failed, so the server may not speak https there",
    advice: checkTheWay,
  },
  {
    codes: /^(ECONNRESET|ECONNABORTED|EPIPE|ECONNCLOSED)$/i,
    errorType: "network",
    reason: "the connection was closed before the answer was complete",
    advice: checkAndRepeat,
  },
  {
    codes: /^ERR_PROXY_TUNNEL$/,
    errorType: "network",
    reason: "the proxy refused the connection",
    advice: () => "Check HTTPS_PROXY and NO_PROXY.",
  },
  {
    codes: /^Malformed_HTTP_Response$/,
    errorType: "invalid_response",
    reason: "the response is not valid HTTP",
    advice: (urlVariable) => `Check HTTPS_PROXY and ${urlVariable}.`,
  },
  {
    codes: /^(Zlib|Brotli|Zstd|Decompression)\w*$/,
    errorType: "stream_cut",
    reason: "the response was damaged in transit",
    advice: () => "Try again.",
  },
  {
    codes: /ALTNAME|HOSTNAME_MISMATCH/,
    errorType: "unknown",
    reason: "its certificate is for another name",
    advice: (urlVariable) => `Check ${urlVariable}.`,
  },
  {
    codes: /CERT_HAS_EXPIRED/,
    errorType: "unknown",
    reason: "its certificate has expired",
    advice: () => "Check the date of this machine, or ask the operator of the server.",
  },
  {
    // A retry does not help.
    codes: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    errorType: "unknown",
    reason: "its certificate is not trusted",
    advice: () => "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer.",
  },
];

const TIMEOUT: Omit<ConnectionFailure, "codes"> = {
  errorType: "timeout",
  reason: "the server did not answer in time",
  advice: () => "Check the network and HTTPS_PROXY, then try again.",
};

/**
 * Converts an error thrown instead of a response or inside one: by `fetch`, by reading the body, or by the parser of
 * a damaged event.
 */
export function toConnectionError(error: unknown, endpoint: Endpoint, vendor: Vendor): ProviderError {
  if (error instanceof HostLimitError) return new ProviderError(error.message, "invalid_request");
  const reason = hideKey(describeConnectionFailure(error), endpoint, vendor);
  if (error instanceof SyntaxError)
    return new ProviderError(`The response from ${endpoint.host} was damaged: ${reason}`, "stream_cut");
  const known = findFailure(error);
  const errorType = known?.errorType ?? (codeOf(error) === "" ? "unknown" : "network");
  const advice = known?.advice ?? (errorType === "network" ? checkAndRepeat : undefined);
  const sentence = `The request to ${endpoint.host} failed: ${reason}`;
  const message = advice ? `${sentence}. ${advice(vendor.urlVariable)}` : sentence;
  return new ProviderError(message, errorType);
}

/** The error of a request that got no answer within its time limit. */
export function toTimeoutError({ host }: Pick<Endpoint, "host">): ProviderError {
  const { reason, errorType } = TIMEOUT;
  return new ProviderError(`The request to ${host} failed: ${reason}. ${TIMEOUT.advice("")}`, errorType);
}

/** The reason of a connection failure, in words that complete "failed: …", with the error code; one line. */
export function describeConnectionFailure(error: unknown): string {
  const code = codeOf(error);
  const known = findFailure(error);
  if (known === TIMEOUT) return known.reason;
  if (known) return `${known.reason} (${code})`;
  const text = toOneLine(withoutDeveloperText(error instanceof Error ? error.message : String(error)));
  if (text === "") return code || "no reason was given";
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
}

/** True if nothing listens at the address, or at the address of its proxy. */
export function isRefusedConnection(error: unknown): boolean {
  return (
    codeOf(error) === "ECONNREFUSED" || (error instanceof Error && codeOf(error.cause) === "ECONNREFUSED")
  );
}

function findFailure(error: unknown): Omit<ConnectionFailure, "codes"> | undefined {
  if (error instanceof Error && error.name === "TimeoutError") return TIMEOUT;
  const code = codeOf(error);
  return code === "" ? undefined : FAILURES.find(({ codes }) => codes.test(code));
}

/** Bun's messages end with hints for callers of `fetch`, and repeat the address, which may contain a key. */
function withoutDeveloperText(message: string): string {
  return message
    .replace(/ fetching "[^"]*"/g, "")
    .replace(/\s*For more information, pass `verbose: true`.*$/s, "")
    .replace(/\.$/, "");
}

function codeOf(error: unknown): string {
  return isRecord(error) ? asString(error.code) : "";
}
