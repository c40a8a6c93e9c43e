import {
  type AssistantMessage,
  type ContentBlock,
  EMPTY_USAGE,
  type ImageBlock,
  type Message,
  type ToolCallBlock,
  type ToolResultMessage,
} from "../../src/types.ts";

/** Messages in few words; all of them were written at the same moment. */
export const TIMESTAMP = 1_700_000_000_000;

export function user(content: string | ContentBlock[]): Message {
  return { role: "user", content, timestamp: TIMESTAMP };
}

export function text(value: string): ContentBlock {
  return { type: "text", text: value };
}

export function call(id: string, name = "read", input: Record<string, unknown> = {}): ToolCallBlock {
  return { type: "tool_call", id, name, input };
}

export function assistant(content: ContentBlock[], fields: Partial<AssistantMessage> = {}): AssistantMessage {
  const stopReason = content.some(({ type }) => type === "tool_call") ? "tool_use" : "end_turn";
  return {
    role: "assistant",
    content,
    model: "test-model",
    usage: EMPTY_USAGE,
    stopReason,
    timestamp: TIMESTAMP,
    ...fields,
  };
}

export function result(toolCallId: string, output = "done", fields: Partial<ToolResultMessage> = {}) {
  const message: ToolResultMessage = {
    role: "tool_result",
    toolCallId,
    toolName: "read",
    output,
    isError: false,
    timestamp: TIMESTAMP,
    ...fields,
  };
  return message;
}

/** A PNG whose chunks are whole; only its header and its length are true, the pixels are zeros. */
export function pngBytes(width: number, height: number, dataBytes = 16): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const chunk = (name: string, data: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name, "latin1"), data, Buffer.alloc(4)]);
  };
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", Buffer.alloc(dataBytes)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

export function image(bytes: Uint8Array = pngBytes(2, 2), mediaType = "image/png"): ImageBlock {
  const data = Buffer.from(bytes).toString("base64");
  return { type: "image", source: { type: "base64", mediaType, data } };
}
