/**
 * What went wrong with a model request, classified once by the adapter; all other code uses this instead of the
 * message text. Repeated as it is, the request may succeed after `rate_limit`, `overloaded` and `server_error`,
 * which the provider says, `network` (no connection), `stream_cut` (the answer broke off) and `timeout` (nothing
 * came). It will not after `quota` (paid up or used up), `auth` (no key or a wrong one), `context_overflow` (longer
 * than the window), `invalid_request` (the provider refuses it), `invalid_response` (it answers what cannot be
 * read) and `unknown`.
 */
export type ProviderErrorType =
  | "rate_limit"
  | "overloaded"
  | "server_error"
  | "network"
  | "stream_cut"
  | "timeout"
  | "quota"
  | "auth"
  | "context_overflow"
  | "invalid_request"
  | "invalid_response"
  | "unknown";

/** Every `ProviderErrorType`, for a schema to check by. */
export const PROVIDER_ERROR_TYPES = [
  "rate_limit",
  "overloaded",
  "server_error",
  "network",
  "stream_cut",
  "timeout",
  "quota",
  "auth",
  "context_overflow",
  "invalid_request",
  "invalid_response",
  "unknown",
] as const satisfies readonly ProviderErrorType[];

const RETRYABLE: ReadonlySet<ProviderErrorType> = new Set([
  "rate_limit",
  "overloaded",
  "server_error",
  "network",
  "stream_cut",
  "timeout",
]);

/** Details of a failure besides its kind. */
export interface ProviderErrorOptions {
  /** How long the provider asks to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The HTTP status, where there was one. */
  statusCode?: number | undefined;
  /** Of `context_overflow`: the window in tokens, where the provider states it. */
  contextWindow?: number | undefined;
  /** Of `context_overflow`: the tokens of the refused request, where the provider states them. */
  requestTokens?: number | undefined;
  cause?: unknown;
}

/** A model request that failed. The message is one line for the user: status, cause and what to do. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** See `ProviderErrorOptions`. */
  readonly retryAfterMs: number | undefined;
  /** See `ProviderErrorOptions`. */
  readonly statusCode: number | undefined;
  /** See `ProviderErrorOptions`. */
  readonly contextWindow: number | undefined;
  /** See `ProviderErrorOptions`. */
  readonly requestTokens: number | undefined;

  constructor(
    message: string,
    readonly errorType: ProviderErrorType,
    options: ProviderErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.statusCode = options.statusCode;
    this.contextWindow = options.contextWindow;
    this.requestTokens = options.requestTokens;
  }

  /** True when the same request may succeed a little later. */
  get isRetryable(): boolean {
    return RETRYABLE.has(this.errorType);
  }
}

/** The error as a ProviderError; anything else that was thrown becomes one of kind `unknown`. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError(error instanceof Error ? error.message : String(error), "unknown", {
    cause: error,
  });
}
