import { monotonicMs, now } from "../infrastructure/runtime.ts";
import type { AssistantMessage, Message, ToolDefinition } from "../types.ts";
import type { Effort, StreamFunction } from "./types.ts";

/** A log record of one request, retries included: first its size, then its result. It contains no key. */
export type RequestLogEntry =
  | {
      type: "request";
      /** Counts from 1; the result has the same number. */
      number: number;
      /** ISO 8601. */
      time: string;
      model: string;
      provider: string;
      systemPrompt: string;
      messages: readonly Message[];
      tools: readonly ToolDefinition[];
      effort?: Effort;
      maxTokens?: number;
    }
  | { type: "answer"; number: number; time: string; durationMs: number; message: AssistantMessage }
  | {
      type: "failure";
      number: number;
      time: string;
      durationMs: number;
      error: { errorType: string; message: string; statusCode?: number; retryAfterMs?: number };
    };

/** Logs every request and its result. `write` may not throw. */
export function withRequestLog(
  streamFunction: StreamFunction,
  write: (entry: RequestLogEntry) => void,
): StreamFunction {
  let requests = 0;
  return (model, context, options) => {
    requests++;
    const number = requests;
    const startedAt = monotonicMs();
    const { effort, maxTokens } = options;
    write({
      type: "request",
      number,
      time: isoTime(),
      model: model.id,
      provider: model.provider,
      ...context,
      ...(effort !== undefined && { effort }),
      ...(maxTokens !== undefined && { maxTokens }),
    });
    const stream = streamFunction(model, context, options);
    stream.subscribe((event) => {
      const measured = { number, time: isoTime(), durationMs: Math.round(monotonicMs() - startedAt) };
      if (event.type === "done") write({ type: "answer", ...measured, message: event.message });
      if (event.type !== "error") return;
      const { errorType, message, statusCode, retryAfterMs } = event.error;
      const details = {
        ...(statusCode !== undefined && { statusCode }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
      write({ type: "failure", ...measured, error: { errorType, message, ...details } });
    });
    return stream;
  };
}

function isoTime(): string {
  return new Date(now()).toISOString();
}
