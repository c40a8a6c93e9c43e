import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages/messages";
import { toSendableHistory } from "../history.ts";
import type { AssistantMessage, ContentBlock, Message } from "../types.ts";
import type { BlockContext } from "./anthropic-blocks.ts";
import { toBlockParam, toTextParam, toToolResultParam } from "./anthropic-blocks.ts";
import { findUnpairedServerBlocks, isPaused, leavesOutServerCall } from "./anthropic-server-tools.ts";
import { createWireIds } from "./call-names.ts";
import { limitImages } from "./image-limits.ts";
import { withToolsAsText } from "./tool-text.ts";

/**
 * Stands where the API wants a user's word and there is none: before an assistant message that opens the conversation,
 * and after one that nobody answered.
 */
const CONTINUE = "Continue.";

/** What of a history cannot be sent; `rejectedThinking` as in `BlockContext`. */
export interface MessageOptions {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  rejectedThinking: ReadonlySet<string>;
}

/**
 * The conversation as the API takes it, whatever the history looks like: it begins and ends with the user (or with
 * a turn the provider paused), every call is answered at once and first, and no content is empty.
 */
export function toAnthropicMessages(messages: readonly Message[], options: MessageOptions): MessageParam[] {
  const history = limitImages(toSendableHistory(messages));
  const context = { toWireId: createWireIds(), rejectedThinking: options.rejectedThinking };
  const sendable = options.hasTools ? history : withToolsAsText(history);
  const unpaired = findUnpairedServerBlocks(sendable);
  const turns: MessageParam[] = [];
  let goesOn = false;
  for (const message of sendable) {
    if (message.role === "assistant") {
      const content = toTurnContent(message, unpaired, context);
      if (content.length === 0) continue;
      if (!endsWithUser(turns) && !goesOn) addUserBlocks(turns, [toTextParam(CONTINUE)]);
      turns.push({ role: "assistant", content });
      goesOn = isPaused(message) && !leavesOutServerCall(message, unpaired);
    } else {
      addUserBlocks(turns, toUserBlocks(message, context));
    }
  }
  if (!endsWithUser(turns) && !goesOn) addUserBlocks(turns, [toTextParam(CONTINUE)]);
  return turns;
}

function endsWithUser(turns: readonly MessageParam[]): boolean {
  return turns.at(-1)?.role === "user";
}

/** Consecutive user messages are one turn: all results of a message must come in the turn that follows it. */
function addUserBlocks(turns: MessageParam[], blocks: ContentBlockParam[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === "user" && typeof last.content !== "string") last.content.push(...blocks);
  else turns.push({ role: "user", content: blocks });
}

function toUserBlocks(
  message: Exclude<Message, AssistantMessage>,
  context: BlockContext,
): ContentBlockParam[] {
  if (message.role === "tool_result") return [toToolResultParam(message, context)];
  if (typeof message.content === "string") return [toTextParam(message.content)];
  return toBlockParams(message.content, context);
}

function toTurnContent(
  message: AssistantMessage,
  unpaired: ReadonlySet<unknown>,
  context: BlockContext,
): ContentBlockParam[] {
  const content = toBlockParams(
    message.content.filter((block) => !unpaired.has(block)),
    context,
  );
  // The API refuses a turn that ends in thinking, which is what an interruption leaves.
  return content.slice(0, content.findLastIndex(({ type }) => !/thinking$/.test(type)) + 1);
}

function toBlockParams(blocks: readonly ContentBlock[], context: BlockContext): ContentBlockParam[] {
  return blocks.map((block) => toBlockParam(block, context)).filter((block) => block !== undefined);
}
