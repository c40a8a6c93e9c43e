import { ProviderError, toProviderError } from "../../provider/errors.ts";
import type {
  Model,
  ProviderEvent,
  StreamContext,
  StreamFunction,
  StreamOptions,
} from "../../provider/types.ts";
import type { AssistantMessage, Usage } from "../../types.ts";
import { addUsage, EMPTY_USAGE, isRefusal, messageText } from "../../types.ts";

/** One request whose answer is wanted for its text only. */
export interface TextQuestion {
  streamFunction: StreamFunction;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** Called once at the end, also when it failed, with what the request has cost. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** The text of an answer, without thinking. */
export interface TextAnswer {
  text: string;
  /** The limit for the answer was reached before its end. */
  isCut: boolean;
}

/**
 * The text that a model answers with.
 * @throws the reason of `options.signal` as soon as that is aborted, else a ProviderError.
 */
export async function askForText(question: TextQuestion): Promise<TextAnswer> {
  const { streamFunction, model, context, options, onUsage } = question;
  const { signal } = options;
  signal?.throwIfAborted();
  const counter = new UsageCounter();
  try {
    const stream = streamFunction(model, context, options);
    const { message } = await untilAborted(
      stream.consume((event) => counter.note(event)),
      signal,
    );
    return { text: textOf(message), isCut: message.stopReason === "max_tokens" };
  } catch (error) {
    signal?.throwIfAborted();
    throw toProviderError(error);
  } finally {
    if (counter.isCharged) onUsage?.(counter.total);
  }
}

/** Settles like `promise`, but rejects at once on an abort: a provider may not notice it. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function textOf(message: AssistantMessage): string {
  const { model, rawStopReason, stopReason } = message;
  if (rawStopReason === "model_context_window_exceeded") {
    throw new ProviderError(`The context window of ${model} is full.`, "context_overflow");
  }
  if (isRefusal(message)) throw new ProviderError(`${model} refused to answer.`, "invalid_response");
  if (stopReason === "error" || stopReason === "aborted") {
    throw new ProviderError(`The answer of ${model} broke off.`, "invalid_response");
  }
  return messageText(message);
}

/** What a request costs, with those that were begun and repeated. */
class UsageCounter {
  private before: Usage = EMPTY_USAGE;
  private current: Usage = EMPTY_USAGE;

  note(event: ProviderEvent): void {
    if (event.type === "usage") this.current = event.usage;
    else if (event.type === "done") this.current = event.message.usage;
    else if (event.type === "start" || event.type === "retry") {
      this.before = this.total;
      this.current = EMPTY_USAGE;
    }
  }

  get total(): Usage {
    return addUsage(this.before, this.current);
  }

  get isCharged(): boolean {
    return Object.values(this.total).some((tokens) => tokens > 0);
  }
}
