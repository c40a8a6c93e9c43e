import { clearMergeCache, countTokens as countWithTokenizer } from "gpt-tokenizer";
import type { StreamContext } from "../../src/provider/types.ts";
import type { ContentBlock, Message } from "../../src/types.ts";

/** What a service adds around each message of its own. */
export const TOKENS_PER_MESSAGE = 4;
const IMAGE_TOKENS = 1_200;

// Messages never change, and a long session is counted again and again.
const counted = new WeakMap<Message, number>();

/** Tokens of a text as a real tokenizer (o200k) counts them; the names of special tokens are text like any other. */
export function countTokens(text: string): number {
  return countWithTokenizer(text, { disallowedSpecial: new Set() });
}

/** Tokens of a request: system prompt, tools, and every message with a few for its frame. */
export function countRequestTokens({ systemPrompt, messages, tools }: StreamContext): number {
  const fixed = countTokens(systemPrompt) + (tools.length > 0 ? countTokens(JSON.stringify(tools)) : 0);
  return messages.reduce((sum, message) => sum + countMessageTokens(message), fixed);
}

export function countMessageTokens(message: Message): number {
  let tokens = counted.get(message);
  if (tokens === undefined) {
    tokens = TOKENS_PER_MESSAGE + partsOf(message).reduce((sum, part) => sum + part, 0);
    counted.set(message, tokens);
  }
  return tokens;
}

function partsOf(message: Message): number[] {
  if (message.role === "tool_result") {
    return [countTokens(message.output), IMAGE_TOKENS * (message.images?.length ?? 0)];
  }
  if (typeof message.content === "string") return [countTokens(message.content)];
  return message.content.map(countBlock);
}

function countBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return countTokens(block.text);
    case "thinking":
      return countTokens(block.thinking);
    case "image":
      return IMAGE_TOKENS;
    case "tool_call":
      return countTokens(block.name) + countTokens(JSON.stringify(block.input));
    case "opaque":
      return countTokens(JSON.stringify(block.raw ?? ""));
  }
}

/** Gives back what the tokenizer keeps of texts it has seen, for whoever measures memory. */
export function forgetCountedTexts(): void {
  clearMergeCache();
}
