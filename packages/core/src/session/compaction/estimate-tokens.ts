import type { ContentBlock, Message } from "../../types.ts";
import { assertNever } from "../../types.ts";

/** The usual rule of thumb for English text and code. */
export const CHARACTERS_PER_TOKEN = 4;

/** About 1,200 tokens, which is what providers count for one image whatever the length of its base64. */
export const IMAGE_CHARACTERS = 4_800;

// A conversation is counted before every request, and its messages never change.
const counted = new WeakMap<Message, number>();

/**
 * The characters of a message that become tokens: texts, thinking, the names and JSON arguments of tool calls, outputs.
 * An image counts `IMAGE_CHARACTERS`.
 */
export function countCharacters(message: Message): number {
  let characters = counted.get(message);
  if (characters === undefined) {
    characters = countMessage(message);
    counted.set(message, characters);
  }
  return characters;
}

/** Tokens of messages at four characters each, rounded up once for all of them. */
export function estimateTokens(messages: readonly Message[]): number {
  const characters = messages.reduce((sum, message) => sum + countCharacters(message), 0);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function countMessage(message: Message): number {
  if (message.role === "tool_result") {
    return message.output.length + (message.images?.length ?? 0) * IMAGE_CHARACTERS;
  }
  if (typeof message.content === "string") return message.content.length;
  return message.content.reduce((sum, block) => sum + countBlock(block), 0);
}

function countBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "image":
      return IMAGE_CHARACTERS;
    case "tool_call":
      return block.name.length + (block.invalidInput ?? JSON.stringify(block.input)).length;
    case "opaque":
      return JSON.stringify(block.raw ?? "").length;
    default:
      return assertNever(block);
  }
}
