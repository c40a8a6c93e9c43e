import type { EventStream } from "../event-stream.ts";
import {
  ProviderError,
  type ProviderEvent,
  type ProviderResult,
  toProviderError,
} from "../provider/types.ts";
import type { Tool } from "../tool/types.ts";
import { type AssistantMessage, type ContentBlock, EMPTY_USAGE, type StopReason } from "../types.ts";
import { SpendingLimitError } from "./budget.ts";
import type { Run } from "./run.ts";
import type { MessageDelta } from "./types.ts";

// A provider that does not react to an abort is abandoned after this time.
const ABORT_GRACE_MS = 500;

/**
 * How one model request ended. `message` is the part of the reply that was recorded; an error may come with a
 * partial reply.
 */
interface Reply {
  message: AssistantMessage | undefined;
  error?: ProviderError;
}

/**
 * Sends the request and emits the reply as it streams. The reply is recorded before it is shown as finished. A
 * request that was too long is repeated once if it could be shortened.
 */
export async function streamReply(run: Run): Promise<Reply> {
  const view = new ReplyView(run, run.nextItemId("message"));
  const first = await askModel(run, view);
  const overflow = run.signal.aborted ? undefined : overflowOf(first);
  const reply = overflow ? await askAgainShortened(run, view, { first, overflow }) : first;
  const said = reply.message ?? view.partial.brokenOff(run.signal.aborted ? "aborted" : "error");
  // Stopped before the first token: there is nothing to record.
  const message = said?.stopReason === "aborted" && said.content.length === 0 ? undefined : said;
  if (message) {
    run.keep(message);
    view.end(message);
  }
  // A failed request may still have been charged.
  run.countUsage((said ?? view.partial.message).usage);
  run.endRequest();
  return { ...reply, message };
}

const LIMIT = "The cost limit was reached before the shortened request was sent.";

function askModel(run: Run, view: ReplyView): Promise<Reply> {
  const { model, streamFunction, effort, maxRetries, retryForMs, sessionId } = run.config;
  const options = { signal: run.signal, effort, maxRetries, retryForMs, sessionId };
  return awaitReply(streamFunction(model, run.context, options), run.signal, (event) => view.show(event));
}

/** Detects that a request did not fit: an error, or the stop reason of a reply for which the window had no room. */
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
    // A summary may have to wait for the requests under way, and this one is over.
    run.endRequest();
    if (!(await run.prepareContext(overflow))) return first;
    await run.beginRequest();
    return run.isOverCost
      ? { message: undefined, error: new SpendingLimitError(LIMIT) }
      : await askModel(run, view);
  } catch (error) {
    return { message: first.message, error: toProviderError(error) };
  }
}

/** Converts the provider's events of one request, retries included, into those of one message. */
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
    if (event.type === "tool_call_start") prepareCall(this.run.tools.registry.find(event.name));
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
    const anew = isPartlyShown ? " Restarting the response." : "";
    const next = `Attempt ${attempt} in ${seconds(delayMs)} s.${anew}`;
    this.run.notice("warning", "retry", `${asSentence(error.message)} ${next}`);
  }
}

/** Loads what a call needs while its arguments arrive: first of all what validates them. */
function prepareCall(tool: Tool | undefined): void {
  void tool?.parameters;
  tool?.prepare?.();
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

/**
 * An assistant message while it streams. It can be shown as it grows, and is kept if the stream breaks off; the
 * provider's final message replaces it at the end. Each change creates a new message object, so that events may keep a
 * reference.
 */
class PartialReply {
  message: AssistantMessage;
  private readonly finishedCalls = new Set<string>();
  /** The type of the last block while it may still grow. */
  private open: "text" | "thinking" | undefined;

  constructor(model: string, timestamp: number) {
    this.message = {
      role: "assistant",
      content: [],
      model,
      usage: EMPTY_USAGE,
      stopReason: "end_turn",
      timestamp,
    };
  }

  /** Applies one event; returns the delta to show, if there is one. */
  apply(event: ProviderEvent): MessageDelta | undefined {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        this.grow(event.type === "text_delta" ? "text" : "thinking", event.delta);
        return event;
      case "text_end":
        this.finish({ type: "text", text: event.text });
        return undefined;
      case "thinking_end": {
        const { thinking, signature } = event;
        this.finish({ type: "thinking", thinking, ...(signature !== undefined && { signature }) });
        return undefined;
      }
      case "tool_call_start":
        this.append({ type: "tool_call", id: event.id, name: event.name, input: {} });
        return undefined;
      case "tool_call_delta":
        return event;
      case "tool_call_end":
        this.finishCall(event);
        return undefined;
      case "usage":
        this.message = { ...this.message, usage: event.usage };
        return undefined;
      default:
        return undefined;
    }
  }

  /** The message so far, without calls whose arguments are incomplete; undefined when it is empty. */
  brokenOff(stopReason: StopReason): AssistantMessage | undefined {
    const content = this.message.content.filter(
      (block) => block.type !== "tool_call" || this.finishedCalls.has(block.id),
    );
    return content.length > 0 ? { ...this.message, content, stopReason } : undefined;
  }

  private grow(type: "text" | "thinking", delta: string): void {
    const last = this.message.content.at(-1);
    if (this.open === type && last?.type === "text") this.replaceLast({ ...last, text: last.text + delta });
    else if (this.open === type && last?.type === "thinking") {
      this.replaceLast({ ...last, thinking: last.thinking + delta });
    } else {
      this.append(type === "text" ? { type, text: delta } : { type, thinking: delta });
      this.open = type;
    }
  }

  private finish(block: ContentBlock): void {
    if (this.open === block.type) this.replaceLast(block);
    else this.append(block);
    this.open = undefined;
  }

  private finishCall({ id, name, input }: Extract<ProviderEvent, { type: "tool_call_end" }>): void {
    this.finishedCalls.add(id);
    this.message = {
      ...this.message,
      content: this.message.content.map((block) =>
        block.type === "tool_call" && block.id === id ? { type: "tool_call", id, name, input } : block,
      ),
    };
  }

  private append(block: ContentBlock): void {
    this.open = undefined;
    this.message = { ...this.message, content: [...this.message.content, block] };
  }

  private replaceLast(block: ContentBlock): void {
    this.message = { ...this.message, content: [...this.message.content.slice(0, -1), block] };
  }
}
