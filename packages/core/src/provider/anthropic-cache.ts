import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages/messages";

/** Ends a stretch of the request that the API caches. One request may have four of them. */
export const CACHE_MARKER = { cache_control: { type: "ephemeral" } } as const;

const MARKED_TURNS = 2;

/**
 * Marks the ends of the last two user turns as cached: the newer one is written, the older one was written by the request
 * before and is read. With system and tools that makes the four markers a request may have.
 */
export function markLastUserTurns(messages: readonly MessageParam[]): MessageParam[] {
  const marked = [...messages];
  let left = MARKED_TURNS;
  for (let index = marked.length - 1; index >= 0 && left > 0; index--) {
    const message = marked[index];
    if (message?.role !== "user" || typeof message.content === "string") continue;
    const content = markLastBlock(message.content);
    if (!content) continue;
    marked[index] = { ...message, content };
    left -= 1;
  }
  return marked;
}

function markLastBlock(blocks: readonly ContentBlockParam[]): ContentBlockParam[] | undefined {
  const position = blocks.findLastIndex((block) => markBlock(block) !== undefined);
  if (position < 0) return undefined;
  return blocks.map((block, index) => (index === position ? (markBlock(block) ?? block) : block));
}

/** The block with a marker, or undefined for a kind that may not carry one. */
function markBlock(block: ContentBlockParam): ContentBlockParam | undefined {
  switch (block.type) {
    case "text":
    case "image":
    case "tool_result":
      return { ...block, ...CACHE_MARKER };
    default:
      return undefined;
  }
}
