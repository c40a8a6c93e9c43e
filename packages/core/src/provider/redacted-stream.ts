import { RedactedPieces, type SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import { ProviderError, toProviderError } from "./errors.ts";
import { createProviderStream, type ProviderEvent, type StreamFunction } from "./types.ts";

/**
 * Removes secrets from requests and from everything that comes back, errors included. It must wrap the adapter
 * directly, inside every wrapper that logs or retries. A secret that is split across deltas is held back until it is
 * complete.
 */
export function withRedaction(streamFunction: StreamFunction, redactor: SecretRedactor): StreamFunction {
  return (model, context, options) => {
    const stream = createProviderStream();
    const reply = new RedactedReply(redactor, (event) => stream.push(event));
    const { systemPrompt, messages, tools } = context;
    const inner = streamFunction(
      model,
      {
        systemPrompt: redactor.redact(systemPrompt),
        messages: messages.map((message) => redactor.redact(message)),
        tools: redactor.redact(tools),
      },
      options,
    );
    void inner
      .consume((event) => reply.apply(event))
      .then(
        ({ message }) => stream.end({ message: redactor.redact(message) }),
        (error: unknown) => stream.fail(redactError(toProviderError(error), redactor)),
      );
    return stream;
  };
}

/** The events of one request, without secrets. */
class RedactedReply {
  private text: RedactedPieces;
  private thinking: RedactedPieces;
  private readonly calls = new Map<string, RedactedPieces>();

  constructor(
    private readonly redactor: SecretRedactor,
    private readonly push: (event: ProviderEvent) => void,
  ) {
    this.text = new RedactedPieces(redactor);
    this.thinking = new RedactedPieces(redactor);
  }

  apply(event: ProviderEvent): void {
    switch (event.type) {
      case "text_delta":
        this.finishThinking();
        this.pushDelta({ ...event, delta: this.text.push(event.delta) });
        break;
      case "thinking_delta":
        this.finishText();
        this.pushDelta({ ...event, delta: this.thinking.push(event.delta) });
        break;
      case "tool_call_delta":
        this.pushDelta({ ...event, delta: this.piecesOf(event.id).push(event.delta) });
        break;
      case "start":
        this.reset();
        this.push(event);
        break;
      case "text_end":
      case "thinking_end":
      case "tool_call_start":
        this.finishText();
        this.finishThinking();
        this.push(this.redactor.redact(event));
        break;
      case "tool_call_end":
        this.finishCall(event.id);
        this.push(this.redactor.redact(event));
        break;
      case "done":
        this.finishAll();
        this.push(this.redactor.redact(event));
        break;
      case "error":
        this.finishAll();
        this.push({ ...event, error: redactError(event.error, this.redactor) });
        break;
      case "retry":
        this.push({ ...event, error: redactError(event.error, this.redactor) });
        break;
      case "usage":
      case "alive":
      case "keep_alive":
      case "stall":
        this.push(event);
        break;
    }
  }

  private reset(): void {
    this.text = new RedactedPieces(this.redactor);
    this.thinking = new RedactedPieces(this.redactor);
    this.calls.clear();
  }

  private finishAll(): void {
    this.finishText();
    this.finishThinking();
    for (const id of this.calls.keys()) this.finishCall(id);
  }

  private finishText(): void {
    this.pushDelta({ type: "text_delta", delta: this.text.finish() });
  }

  private finishThinking(): void {
    this.pushDelta({ type: "thinking_delta", delta: this.thinking.finish() });
  }

  private finishCall(id: string): void {
    this.pushDelta({ type: "tool_call_delta", id, delta: this.piecesOf(id).finish() });
  }

  private pushDelta(event: Extract<ProviderEvent, { delta: string }>): void {
    if (event.delta !== "") this.push(event);
  }

  private piecesOf(id: string): RedactedPieces {
    const pieces = this.calls.get(id) ?? new RedactedPieces(this.redactor);
    this.calls.set(id, pieces);
    return pieces;
  }
}

/** The error without secrets. Its cause is dropped, because it may contain them. */
function redactError(error: ProviderError, redactor: SecretRedactor): ProviderError {
  const message = redactor.redact(error.message);
  if (message === error.message) return error;
  const { errorType, retryAfterMs, statusCode, contextWindow, requestTokens } = error;
  return new ProviderError(message, errorType, {
    retryAfterMs,
    statusCode,
    contextWindow,
    requestTokens,
  });
}
