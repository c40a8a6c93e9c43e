import type { EventStream } from "../event-stream.ts";
import { sleep } from "../infrastructure/runtime.ts";
import type { AssistantMessage } from "../types.ts";
import { classifyResponse, toConnectionError, toTimeoutError } from "./classify-error.ts";
import type { Endpoint, Vendor } from "./endpoint.ts";
import { ProviderError, toProviderError } from "./errors.ts";
import { createProviderStream, type ProviderEvent, type ProviderResult } from "./types.ts";
import { asRecord } from "./wire-format.ts";

// A connection whose body ends by itself can be used again; one that stays open after the last event is closed.
const CLOSE_AFTER_MS = 1_000;

/** One request to a provider and what has arrived of its answer. */
export interface Exchange {
  host: string;
  /** Sends the request; the provider's own events follow. */
  open(signal: AbortSignal): Promise<AsyncIterable<unknown>>;
  /** Takes in one of them and returns what it means to us. May throw what the answer failed with. */
  apply(event: unknown): ProviderEvent[];
  /** True after the last event: an answer that ends without it was cut. */
  isFinished(): boolean;
  /** The answer as far as it came. */
  toMessage(): AssistantMessage;
  toError(error: unknown): Promise<ProviderError>;
}

/** Runs an exchange. An abort takes effect at once, even when the server is silent. */
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
    // The stream drops whatever comes after its end, so it does not matter how long the connection takes to close.
    finish();
    connection.abort();
  };
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of await exchange.open(connection.signal)) {
      const events = exchange.apply(event);
      for (const ours of events) stream.push(ours);
      // A model that thinks without showing it is no silent connection; a server that only says that it is there is.
      if (events.length === 0 && asRecord(event).type !== "ping") stream.push({ type: "alive" });
      if (!exchange.isFinished()) continue;
      finish();
      void sleep(CLOSE_AFTER_MS, connection.signal).then(() => connection.abort());
    }
    stream.push({ type: "error", error: cutError(exchange) });
  } catch (error) {
    // Telling what an error is takes the SDK, which may be what could not be loaded.
    const told = await exchange.toError(error).catch(() => toProviderError(error));
    stream.push({ type: "error", error: told });
  } finally {
    signal?.removeEventListener("abort", abort);
    connection.abort();
  }
}

/** Dropped when the answer was finished or aborted before. */
function cutError({ host }: Exchange): ProviderError {
  return new ProviderError(`${host} cut the answer off before its end.`, "stream_cut");
}

// More than enough for the first 200 characters of a page that is no answer.
const MAX_ERROR_BYTES = 4096;

/** Until the headers, in milliseconds; a large prompt may be read for minutes before the first byte. */
export const HEADERS_TIMEOUT_MS = 600_000;

type ClassOf<T> = abstract new (...args: never[]) => T;

/** The errors that both SDKs throw, under the same names. */
interface SdkErrors {
  APIConnectionTimeoutError: ClassOf<Error>;
  APIConnectionError: ClassOf<Error>;
  APIError: ClassOf<Error & { status: number | undefined; headers: Headers | undefined; error: unknown }>;
}

/** The events of a response, if it is a stream of them; throws the error that anything else means. */
export async function toEvents(
  { data, response }: { data: AsyncIterable<unknown>; response: Response },
  endpoint: Endpoint,
  vendor: Vendor,
): Promise<AsyncIterable<unknown>> {
  const { status, headers } = response;
  if (/event-stream/i.test(headers.get("content-type") ?? "text/event-stream")) return data;
  throw classifyResponse({ status, headers, body: await readBeginning(response) }, endpoint, vendor);
}

/** Converts anything an SDK threw into a ProviderError. */
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

/** Without a JSON body an SDK keeps the text in its message only, after the status, or a phrase where there is none. */
export function textOfSdkMessage(message: string): string {
  return message.replace(/^\d{3} (status code \(no body\)$)?/, "");
}

/** As much of a body as an error message may show. */
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
