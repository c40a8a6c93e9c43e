import type { EventStream } from "../event-stream.ts";
import type { ProviderEvent, ProviderResult } from "../provider/types.ts";
import { ProviderError, toProviderError } from "../provider/types.ts";
import type { AssistantMessage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import { PartialReply } from "./partial-reply.ts";
import type { Run } from "./run.ts";

// A provider that does not notice an abort is left behind after this time.
const ABORT_GRACE_MS = 500;

/** How one model request ended. `message` is what was kept of the reply; an error may come with a part of one. */
export interface Reply {
  message: AssistantMessage | undefined;
  error?: ProviderError;
}

/**
 * Asks the model and shows the reply as it comes. The reply is kept before it is shown as finished. A request that was
 * too long is made once more when it could be shortened.
 */
export async function streamReply(run: Run): Promise<Reply> {
  const view = new ReplyView(run, run.nextItemId("message"));
  const first = await askModel(run, view);
  const overflow = run.signal.aborted ? undefined : overflowOf(first);
  const reply = overflow ? await askAgainShortened(run, view, { first, overflow }) : first;
  const said = reply.message ?? view.partial.brokenOff(run.signal.aborted ? "aborted" : "error");
  // Stopped before its first word: there is nothing to keep.
  const message = said?.stopReason === "aborted" && said.content.length === 0 ? undefined : said;
  if (message) {
    run.keep(message);
    view.end(message);
  }
  // A request that came to nothing may have been charged for.
  run.countUsage((said ?? view.partial.message).usage);
  return { ...reply, message };
}

function askModel(run: Run, view: ReplyView): Promise<Reply> {
  const { model, streamFunction, effort, maxRetries, sessionId } = run.config;
  const options = { signal: run.signal, effort, maxRetries, sessionId };
  return awaitReply(streamFunction(model, run.context, options), run.signal, (event) => view.show(event));
}

/** What says that a request did not fit: an error, or the word for a reply that the window had no room for. */
function overflowOf({ message, error }: Reply): ProviderError | undefined {
  if (error?.errorType === "context_overflow") return error;
  if (message?.rawStopReason !== "model_context_window_exceeded") return undefined;
  return new ProviderError(`The context window of ${message.model} is full.`, "context_overflow");
}

async function askAgainShortened(
  run: Run,
  view: ReplyView,
  { first, overflow }: { first: Reply; overflow: ProviderError },
): Promise<Reply> {
  try {
    return (await run.prepareContext(overflow)) ? await askModel(run, view) : first;
  } catch (error) {
    return { message: first.message, error: toProviderError(error) };
  }
}

/** Turns the provider's events of one request, repetitions included, into those of one message. */
class ReplyView {
  partial: PartialReply;
  private started = false;
  private retrying = false;

  constructor(
    private readonly run: Run,
    private readonly itemId: string,
  ) {
    this.partial = new PartialReply(run.config.model.id, run.now());
  }

  show(event: ProviderEvent): void {
    if (event.type === "start") this.start();
    else if (event.type === "retry") this.retry(event);
    else if (event.type === "stall") this.run.notice("warning", "stall", stallText(event.silentMs));
    else this.grow(event);
  }

  end(message: AssistantMessage): void {
    if (!this.started) this.start();
    this.run.emit({ type: "message_end", itemId: this.itemId, message });
  }

  private grow(event: ProviderEvent): void {
    const delta = this.partial.apply(event);
    if (!delta) return;
    if (!this.started) this.start();
    this.run.emit({ type: "message_delta", itemId: this.itemId, message: this.partial.message, delta });
  }

  private start(): void {
    if (this.retrying) this.run.emit({ type: "status_change", status: "busy" });
    this.retrying = false;
    const { content, usage } = this.partial.message;
    if (usage !== EMPTY_USAGE) this.run.countUsage(usage);
    this.partial = new PartialReply(this.run.config.model.id, this.run.now());
    if (this.started && content.length === 0) return;
    this.started = true;
    this.run.emit({ type: "message_start", itemId: this.itemId, message: this.partial.message });
  }

  private retry({ attempt, delayMs, error }: Extract<ProviderEvent, { type: "retry" }>): void {
    this.retrying = true;
    this.run.emit({ type: "status_change", status: "retry", retry: { attempt, delayMs } });
    const isPartlyShown = this.partial.message.content.length > 0;
    const anew = isPartlyShown ? " The answer begins anew." : "";
    const next = `Attempt ${attempt} in ${seconds(delayMs)} s.${anew}`;
    this.run.notice("warning", "retry", `${asSentence(error.message)} ${next}`);
  }
}

function awaitReply(
  stream: EventStream<ProviderEvent, ProviderResult>,
  signal: AbortSignal,
  show: (event: ProviderEvent) => void,
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const finish = (reply: Reply) => {
    over = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    resolve(reply);
  };
  const onAbort = () => {
    timer = setTimeout(() => finish({ message: undefined }), ABORT_GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  stream
    .consume((event) => {
      if (!over) show(event);
    })
    .then(
      ({ message }) => finish({ message }),
      (error: unknown) => finish({ message: undefined, error: toProviderError(error) }),
    );
  return promise;
}

function stallText(silentMs: number): string {
  return `The model has sent nothing for ${Math.round(silentMs / 1000)} s.`;
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(durationMs < 10_000 ? 1 : 0);
}
