/**
 * Events of the Messages API for answers that no recording holds: thinking, redaction, refusal, cuts. Written by hand
 * from the types of `@anthropic-ai/sdk` (`RawMessageStreamEvent` and what it consists of).
 */
type WireEvent = Record<string, unknown>;

export function messageStart(
  usage: Record<string, unknown> = { input_tokens: 10, output_tokens: 1 },
): WireEvent {
  return {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  };
}

/** A block with its deltas and its end. */
export function block(index: number, contentBlock: WireEvent, ...deltas: WireEvent[]): WireEvent[] {
  return [...openBlock(index, contentBlock, ...deltas), { type: "content_block_stop", index }];
}

/** A block that never ends. */
export function openBlock(index: number, contentBlock: WireEvent, ...deltas: WireEvent[]): WireEvent[] {
  return [
    { type: "content_block_start", index, content_block: contentBlock },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  ];
}

export function textBlock(index: number, ...pieces: string[]): WireEvent[] {
  const deltas = pieces.map((piece) => ({ type: "text_delta", text: piece }));
  return block(index, { type: "text", text: "", citations: null }, ...deltas);
}

export function callBlock(index: number, id: string, ...pieces: string[]): WireEvent[] {
  return block(index, callStart(id), ...jsonDeltas(pieces));
}

/** A call whose arguments break off, with no end of the block. */
export function openCall(index: number, id: string, ...pieces: string[]): WireEvent[] {
  return openBlock(index, callStart(id), ...jsonDeltas(pieces));
}

export function thinkingBlock(index: number, thinking: string, signature: string): WireEvent[] {
  return block(
    index,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  );
}

export function messageEnd(
  stopReason: string | null,
  usage: Record<string, unknown> = { output_tokens: 5 },
): WireEvent[] {
  return [
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

/** The whole of an answer that is only text. */
export function textAnswer(answer: string): WireEvent[] {
  return [messageStart(), ...textBlock(0, answer), ...messageEnd("end_turn")];
}

function callStart(id: string): WireEvent {
  return { type: "tool_use", id, name: "read", input: {}, caller: { type: "direct" } };
}

function jsonDeltas(pieces: string[]): WireEvent[] {
  return pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
}
