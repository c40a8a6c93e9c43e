import type { Answer } from "./messages-server.ts";

/** A call that a model is made to ask for. */
export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

const MODEL = "claude-sonnet-5";
const encoder = new TextEncoder();

/** An answer that says a text and ends the run. */
export function textAnswer(text: string): Answer {
  return encode([...textEvents([text]), ...endEvents("end_turn")]);
}

/** The same, each chunk of the text and each event around it written by itself. */
export function streamedAnswer(chunks: readonly string[]): Answer {
  return [...textEvents(chunks), ...endEvents("end_turn")].map((event) => encode([event]));
}

/** An answer that asks for one tool call. @param number makes its id unique within a run. */
export function toolCallAnswer({ name, input }: ToolCall, number: number): Answer {
  const block = { type: "tool_use", id: `toolu_${number}`, name, input: {} };
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  return encode([
    messageStart(),
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    ...endEvents("tool_use"),
  ]);
}

/** What `textAnswer` says, as OpenAI's Responses API says it. */
export function openAITextAnswer(text: string): Answer {
  const part = { type: "output_text", text, annotations: [] };
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [part] };
  const at = { output_index: 0, item_id: item.id, content_index: 0 };
  const usage = { input_tokens: 1000, output_tokens: 20, total_tokens: 1020 };
  return encode([
    { type: "response.created", response: { id: "resp_1", status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", usage } },
  ]);
}

interface WireEvent {
  type: string;
  [field: string]: unknown;
}

function textEvents(chunks: readonly string[]): WireEvent[] {
  return [
    messageStart(),
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...chunks.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
  ];
}

function messageStart(): WireEvent {
  const usage = { input_tokens: 1000, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: MODEL, content: [], usage };
  return { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } };
}

function endEvents(stopReason: string): WireEvent[] {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return [{ type: "message_delta", delta, usage: { output_tokens: 20 } }, { type: "message_stop" }];
}

function encode(events: readonly WireEvent[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}
