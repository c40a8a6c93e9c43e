import type { ContentBlock, Message, Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import type { ScriptReply } from "./scripted-events.ts";
import type { ScriptTurn } from "./scripted-schema.ts";
import type { StreamContext } from "./types.ts";

// The usual rule of thumb for English text and code.
const CHARS_PER_TOKEN = 4;
// About what providers count for one image, whatever the length of its base64.
const IMAGE_CHARS = 1_200 * CHARS_PER_TOKEN;

/** What a turn says it used; whatever it leaves out is estimated from the request and the reply. */
export function scriptedUsage(
  scripted: ScriptTurn["usage"] = {},
  requestTokens: number,
  content: readonly ContentBlock[],
): Usage {
  return {
    inputTokens: scripted.inputTokens ?? requestTokens,
    outputTokens: scripted.outputTokens ?? toTokens(countContent(content)),
    cacheReadTokens: scripted.cacheReadTokens ?? 0,
    cacheWriteTokens: scripted.cacheWriteTokens ?? 0,
  };
}

/**
 * What a reply used that is told event by event. Where none of them reports any, as of a request that was stopped, zeros
 * mean that nothing was reported: it is not counted, here or there.
 */
export function repliedUsage(
  { usage }: Pick<ScriptReply, "usage">,
  { events = [] }: Pick<ScriptTurn, "events">,
): Usage {
  const isReported = events.some(({ type }) => type === "usage") || Object.values(usage).some(Boolean);
  return isReported ? usage : EMPTY_USAGE;
}

/** Tokens of a request: characters of system prompt, messages and tools, divided by four. */
export function estimateRequestTokens({ systemPrompt, messages, tools }: StreamContext): number {
  const inMessages = messages.reduce((sum, message) => sum + countMessage(message), 0);
  return toTokens(systemPrompt.length + inMessages + (tools.length > 0 ? JSON.stringify(tools).length : 0));
}

function countMessage(message: Message): number {
  if (message.role !== "tool_result") return countContent(message.content);
  return message.output.length + (message.images?.length ?? 0) * IMAGE_CHARS;
}

function countContent(content: string | readonly ContentBlock[]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => sum + countBlock(block), 0);
}

function countBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "image":
      return IMAGE_CHARS;
    case "tool_call":
      return (block.invalidInput ?? JSON.stringify(block.input)).length;
    case "opaque":
      return JSON.stringify(block.raw ?? "").length;
  }
}

function toTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
