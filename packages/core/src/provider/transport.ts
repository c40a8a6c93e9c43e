import type { EventStream } from "../event-stream.ts";
import { sleep } from "../infrastructure/runtime.ts";
import type { AssistantMessage } from "../types.ts";
import { classifyResponse, toConnectionError, toTimeoutError } from "./classify-error.ts";
import type { Endpoint, Vendor } from "./endpoint.ts";
import { ProviderError, toProviderError } from "./errors.ts";
import { createProviderStream, type ProviderEvent, type ProviderResult } from "./types.ts";
import { asRecord } from "./wire-format.ts";

// A connection can be reused only if its body ends by itself; a connection that stays open after the last event is
// closed.
const CLOSE_AFTER_MS = 1_000;

/** One request to a provider and the part of its answer that has arrived. */
export interface Exchange {
  host: string;
  /** Sends the request and yields the provider's own events. */
  open(signal: AbortSignal): Promise<AsyncIterable<unknown>>;
  /** Applies one of them and returns the resulting provider events. May throw the error of the answer. */
  apply(event: unknown): ProviderEvent[];
  /** True after the last event. An answer that ends before it was cut. */
  isFinished(): boolean;
  /** The answer so far. */
  toMessage(): AssistantMessage;
  toError(error: unknown): Promise<ProviderError>;
}

/** Runs an exchange. An abort takes effect immediately, even if the server is silent. */
export function streamAnswer(
  exchange: Exchange,
  signal: AbortSignal | undefined,
): EventStream<ProviderEvent, ProviderResult> {
  const stream = createProviderStream();
  void run(exchange, stream, signal);
  return stream;
}

async function run(
  exchange: Exchange,
  stream: EventStream<ProviderEvent, ProviderResult>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const finish = () => {
    const message = exchange.toMessage();
    stream.push({ type: "done", stopReason: message.stopReason, message });
  };
  if (signal?.aborted) return finish();
  const connection = new AbortController();
  const abort = () => {
    // The stream drops everything after its end, so the time that closing the connection takes does not matter.
    finish();
    connection.abort();
  };
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of await exchange.open(connection.signal)) {
      const events = exchange.apply(event);
      for (const ours of events) stream.push(ours);
      // A model that thinks without showing it sends events and counts as active.
      const isPing = asRecord(event).type === "ping";
      if (events.length === 0) stream.push({ type: isPing ? "keep_alive" : "alive" });
      if (!exchange.isFinished()) continue;
      finish();
      void sleep(CLOSE_AFTER_MS, connection.signal).then(() => connection.abort());
    }
    stream.push({ type: "error", error: cutError(exchange) });
  } catch (error) {
    // Classifying an error needs the SDK, which may be the module that failed to load.
    const told = await exchange.toError(error).catch(() => toProviderError(error));
    stream.push({ type: "error", error: told });
  } finally {
    signal?.removeEventListener("abort", abort);
    connection.abort();
  }
}

/** Has no effect if the answer was already finished or aborted. */
function cutError({ host }: Exchange): ProviderError {
  return new ProviderError(`${host} cut the answer off before its end.`, "stream_cut");
}

// More than the first 200 characters of an error page, which is all that a message shows.
const MAX_ERROR_BYTES = 4096;

/**
 * The time limit for the headers, in milliseconds. A server may process a large prompt for minutes before its first
 * byte.
 */
export const HEADERS_TIMEOUT_MS = 600_000;

type ClassOf<T> = abstract new (...args: never[]) => T;

/** The error classes of both SDKs, which have the same names. */
interface SdkErrors {
  APIConnectionTimeoutError: ClassOf<Error>;
  APIConnectionError: ClassOf<Error>;
  APIError: ClassOf<Error & { status: number | undefined; headers: Headers | undefined; error: unknown }>;
}

/** The events of a response if it is an event stream; otherwise throws the matching error. */
export async function toEvents(
  { data, response }: { data: AsyncIterable<unknown>; response: Response },
  endpoint: Endpoint,
  vendor: Vendor,
): Promise<AsyncIterable<unknown>> {
  const { status, headers } = response;
  if (/event-stream/i.test(headers.get("content-type") ?? "text/event-stream")) return data;
  throw classifyResponse({ status, headers, body: await readBeginning(response) }, endpoint, vendor);
}

/** Converts any error of an SDK to a ProviderError. */
export function toSdkError(
  error: unknown,
  sdk: SdkErrors,
  { endpoint, vendor }: { endpoint: Endpoint; vendor: Vendor },
): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof sdk.APIConnectionTimeoutError) {
    return toTimeoutError(endpoint);
  }
  if (error instanceof sdk.APIConnectionError)
    return toConnectionError(error.cause ?? error, endpoint, vendor);
  if (!(error instanceof sdk.APIError)) return toConnectionError(error, endpoint, vendor);
  const { status, headers, message } = error;
  const body = error.error ?? textOfSdkMessage(message);
  return classifyResponse({ status, headers, body }, endpoint, vendor);
}

/**
 * For a body that is not JSON, the SDK keeps the text only in its message, after the status (or a phrase if there is
 * none).
 */
export function textOfSdkMessage(message: string): string {
  return message.replace(/^\d{3} (status code \(no body\)$)?/, "");
}

/** The part of a body that an error message may show. */
export async function readBeginning(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES));
}
