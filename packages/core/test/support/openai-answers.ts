import { asRecord } from "../../src/provider/wire-format.ts";
import type { Reply } from "./sse-server.ts";

/**
 * Events of the Responses API for answers that no recording holds: refusals, interleaving, failures, cuts. Written by hand
 * from the types of `openai` (`ResponseStreamEvent` and what it consists of).
 */
type WireEvent = Record<string, unknown>;

export function created(): WireEvent {
  return { type: "response.created", response: { id: "resp_1", status: "in_progress", usage: null } };
}

export function completed(usage: WireEvent = { input_tokens: 10, output_tokens: 5 }): WireEvent {
  return { type: "response.completed", response: { id: "resp_1", status: "completed", usage } };
}

export function incomplete(reason: string): WireEvent {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const response = { id: "resp_1", status: "incomplete", incomplete_details: { reason }, usage };
  return { type: "response.incomplete", response };
}

export function failed(code: string, message = "because"): WireEvent {
  return { type: "response.failed", response: { id: "resp_1", status: "failed", error: { code, message } } };
}

/** An item with what comes between its beginning and its end. */
export function item(index: number, whole: WireEvent, ...between: WireEvent[]): WireEvent[] {
  const done = { type: "response.output_item.done", output_index: index, item: whole };
  return [...openItem(index, whole, ...between), done];
}

/** An item that never ends. */
export function openItem(index: number, whole: WireEvent, ...between: WireEvent[]): WireEvent[] {
  const { content: _, arguments: __, summary: ___, encrypted_content: ____, ...begun } = whole;
  const empty = { content: [], arguments: "", summary: [] };
  const start = Object.fromEntries(Object.entries({ ...empty, ...begun }).filter(([key]) => key in whole));
  const at = { output_index: index, item_id: whole.id };
  return [
    { type: "response.output_item.added", output_index: index, item: { ...start, status: "in_progress" } },
    ...between.map((event) => ({ ...event, ...at })),
  ];
}

export function messageItem(id: string, parts: WireEvent[], fields: WireEvent = {}): WireEvent {
  return { type: "message", id, role: "assistant", status: "completed", content: parts, ...fields };
}

export function textPart(text: string, annotations: unknown[] = []): WireEvent {
  return { type: "output_text", text, annotations, logprobs: [] };
}

export function callItem(callId: string, json: string, fields: WireEvent = {}): WireEvent {
  const id = `fc_${callId}`;
  return {
    type: "function_call",
    id,
    call_id: callId,
    name: "read",
    arguments: json,
    status: "completed",
    ...fields,
  };
}

export function reasoningItem(id: string, summary: string[] = []): WireEvent {
  const parts = summary.map((text) => ({ type: "summary_text", text }));
  return { type: "reasoning", id, summary: parts, encrypted_content: `gAAA${id}` };
}

/** The pieces of a text part, its end and the end of the part. */
export function textPieces(contentIndex: number, ...pieces: string[]): WireEvent[] {
  const at = { content_index: contentIndex };
  const text = pieces.join("");
  return [
    { type: "response.content_part.added", ...at, part: textPart("") },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part: textPart(text) },
  ];
}

export function refusalPieces(...pieces: string[]): WireEvent[] {
  const deltas = pieces.map((delta) => ({ type: "response.refusal.delta", content_index: 0, delta }));
  return [...deltas, { type: "response.refusal.done", content_index: 0, refusal: pieces.join("") }];
}

export function argumentPieces(...pieces: string[]): WireEvent[] {
  const deltas = pieces.map((delta) => ({ type: "response.function_call_arguments.delta", delta }));
  return [...deltas, { type: "response.function_call_arguments.done", arguments: pieces.join("") }];
}

export function summaryPieces(summaryIndex: number, ...pieces: string[]): WireEvent[] {
  const at = { summary_index: summaryIndex };
  return [
    { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
    ...pieces.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_text.done", ...at, text: pieces.join("") },
  ];
}

/** The whole of an answer that is only text. */
export function textAnswer(answer: string): WireEvent[] {
  return [
    created(),
    ...item(0, messageItem("msg_1", [textPart(answer)]), ...textPieces(0, answer)),
    completed(),
  ];
}

/** A call with its arguments in pieces. */
export function call(index: number, callId: string, ...pieces: string[]): WireEvent[] {
  return item(index, callItem(callId, pieces.join("")), ...argumentPieces(...pieces));
}

/** An error as OpenAI words it. */
export function openAIError(status: number, error: WireEvent, headers: Record<string, string> = {}): Reply {
  const body = JSON.stringify({ error: { param: null, code: null, ...asRecord(error) } });
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}
