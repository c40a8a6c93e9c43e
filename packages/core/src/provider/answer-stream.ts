import type { EventStream } from "../event-stream.ts";
import { sleep } from "../infrastructure/clock.ts";
import type { AssistantMessage } from "../types.ts";
import { ProviderError, toProviderError } from "./errors.ts";
import { asRecord } from "./json-value.ts";
import { createProviderStream } from "./provider-stream.ts";
import type { ProviderEvent, ProviderResult } from "./types.ts";

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
