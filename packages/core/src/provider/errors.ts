/**
 * The kind of a failed model request, classified once by the adapter; all other code uses it instead of the message
 * text. A retry may succeed after `rate_limit`, `overloaded`, `server_error` (all reported by the provider),
 * `network` (no connection), `stream_cut` (the answer was interrupted) and `timeout` (nothing arrived). It will not
 * after `quota` (no credit left), `auth` (no key or an invalid one), `context_overflow` (longer than the window),
 * `invalid_request` (rejected by the provider), `invalid_response` (unreadable) and `unknown`.
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

/** Every `ProviderErrorType`, for schemas. */
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
  /** The HTTP status, if there was one. */
  statusCode?: number | undefined;
  /** For `context_overflow`: the window in tokens, if the provider states it. */
  contextWindow?: number | undefined;
  /** For `context_overflow`: the tokens of the rejected request, if the provider states them. */
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

  /** True if the same request may succeed a little later. */
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
