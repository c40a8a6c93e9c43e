import type { ContentBlock, Message, ToolResultMessage, UserMessage } from "../types.ts";

/**
 * The messages with tool calls and results as text, for a request that offers no tools: providers refuse the blocks
 * then, yet what was done has to stay readable.
 */
export function withToolsAsText(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role === "assistant") return { ...message, content: message.content.map(toTextBlock) };
    return message.role === "tool_result" ? toUserMessage(message) : message;
  });
}

function toUserMessage({
  toolName,
  output,
  images = [],
  isError,
  timestamp,
}: ToolResultMessage): UserMessage {
  const text = `[${isError ? "Error from" : "Result of"} ${toolName}]\n${output}`;
  return { role: "user", content: [{ type: "text", text }, ...images], timestamp };
}

function toTextBlock(block: ContentBlock): ContentBlock {
  if (block.type !== "tool_call") return block;
  const input = block.invalidInput ?? JSON.stringify(block.input);
  return { type: "text", text: `[Called ${block.name} with ${input}]` };
}
