import { localTime, monotonicMs, now, sleep } from "../infrastructure/runtime.ts";
import { ProviderError, toProviderError } from "./errors.ts";
import {
  createProviderStream,
  type Model,
  type ProviderEvent,
  type StreamContext,
  type StreamFunction,
  type StreamOptions,
} from "./types.ts";

/** How long a request is retried, from its first failure, if neither `maxRetries` nor `retryForMs` is given. */
export const RETRY_FOR_MS = 300_000;
const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
// A longer wait is reported to the user as an error that names the time at which a request can succeed.
const MAX_RETRY_AFTER_MS = 600_000;

/** The dependencies of retries; tests pass their own. */
export interface RetryOptions {
  /** A number from 0 up to 1, for the jitter. */
  random?: () => number;
  sleep?: (durationMs: number, signal?: AbortSignal) => Promise<void>;
  /** A clock that only runs forward, in milliseconds. */
  clock?: () => number;
}

/**
 * Retries requests that failed temporarily: rate limits, overload, server and network errors, cut streams. The delay
 * doubles from one second to at most thirty, with jitter; a `retry-after` of up to ten minutes is honored. It ends
 * after `maxRetries` retries or, if these are not limited, with the first failure after `retryForMs`. A failed stream
 * has had no effects, since tool calls run after it, so the whole answer is requested again: a second `start` means
 * that the earlier content is void.
 */
export function withRetry(streamFunction: StreamFunction, options: RetryOptions = {}): StreamFunction {
  return (model, context, streamOptions) => {
    const stream = createProviderStream();
    const push = (event: ProviderEvent) => stream.push(event);
    void repeat({ streamFunction, model, context, streamOptions, push }, options);
    return stream;
  };
}

interface Request {
  streamFunction: StreamFunction;
  model: Model;
  context: StreamContext;
  streamOptions: StreamOptions;
  push: (event: ProviderEvent) => void;
}

async function repeat(
  request: Request,
  { random = Math.random, sleep: wait = sleep, clock = monotonicMs }: RetryOptions,
): Promise<void> {
  const { streamOptions, push } = request;
  const { maxRetries, retryForMs = RETRY_FOR_MS } = streamOptions;
  let firstFailureAt: number | undefined;
  for (let attempt = 1; ; attempt++) {
    const error = await attemptOnce(request);
    if (!error) return;
    firstFailureAt ??= clock();
    const isLast = maxRetries === undefined ? clock() - firstFailureAt >= retryForMs : attempt > maxRetries;
    const delayMs = retryDelayMs(error, attempt, random);
    if (!error.isRetryable || isLast || streamOptions.signal?.aborted) {
      push({ type: "error", error });
      return;
    }
    if (delayMs === undefined) {
      push({ type: "error", error: withWaitingTime(error) });
      return;
    }
    push({ type: "retry", attempt: attempt + 1, delayMs, error });
    await wait(delayMs, streamOptions.signal);
    if (streamOptions.signal?.aborted) return push({ type: "error", error });
  }
}

/** Forwards one attempt to the stream; returns its error instead of emitting it. */
async function attemptOnce({
  streamFunction,
  model,
  context,
  streamOptions,
  push,
}: Request): Promise<ProviderError | undefined> {
  let failure: ProviderError | undefined;
  const attempt = streamFunction(model, context, streamOptions);
  await attempt
    .consume((event) => {
      if (event.type === "error") failure = event.error;
      else push(event);
    })
    .catch((error: unknown) => {
      failure ??= toProviderError(error);
    });
  return failure;
}

/** The error with the time at which a retry can succeed. */
function withWaitingTime(error: ProviderError): ProviderError {
  const { message, errorType, retryAfterMs = 0, statusCode } = error;
  const from = localTime(now() + retryAfterMs);
  const text = `${message} The provider asks to wait ${formatWait(retryAfterMs)}: try again after ${from}.`;
  return new ProviderError(text, errorType, { retryAfterMs, statusCode, cause: error });
}

function formatWait(durationMs: number): string {
  if (durationMs < 120_000) return `${Math.ceil(durationMs / 1000)} seconds`;
  const minutes = Math.ceil(durationMs / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** The delay before the next attempt, or undefined if the provider asks for a longer wait than the limit. */
function retryDelayMs(error: ProviderError, attempt: number, random: () => number): number | undefined {
  const { retryAfterMs } = error;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  const backoffMs = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
  const jitteredMs = Math.round(backoffMs * (0.5 + random() / 2));
  return Math.max(retryAfterMs ?? 0, jitteredMs);
}
