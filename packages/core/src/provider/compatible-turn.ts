import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageFunctionToolCall,
} from "openai/resources/chat/completions";
import { isBlank } from "../result-texts.ts";
import type { AssistantMessage, ThinkingBlock, ToolCallBlock } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import { toWireName } from "./call-names.ts";
import { readThinkingReplay } from "./compatible-reasoning.ts";
import { asRecord, toWellFormedJson, toWellFormedRecord } from "./json-value.ts";

/** An assistant message; thinking goes back in one of several further fields. */
export type AssistantParam = ChatCompletionAssistantMessageParam & Record<string, unknown>;

const MAX_NAME_CHARS = 64;

/** Who is asked, and what of an assistant message goes back there. */
export interface TurnContext {
  /** The server's name: what came from it under that name goes back to it. */
  provider: string;
  /** The model that is asked, as it was handed in. */
  model: string;
  /** False when the server refuses to take thinking back. */
  takesThinking: boolean;
  /** An id as the server takes it. */
  toWireId(toolCallId: string): string;
}

/**
 * An assistant message as the API takes it; undefined when nothing of it can be sent. Its texts are one: lists of parts are
 * not understood everywhere. A turn with tool calls goes on after its results, so the model gets its thinking back with
 * it, as the servers that want any of it ask for; thinking of other turns is over and left out.
 */
export function toAssistantParam(
  message: AssistantMessage,
  context: TurnContext,
): AssistantParam | undefined {
  const text = message.content
    .flatMap((block) => (block.type === "text" && !isBlank(block.text) ? [block.text.toWellFormed()] : []))
    .join("\n");
  const calls = toolCallsOf(message).map((block) => toCallParam(block, message, context));
  if (calls.length === 0) return text === "" ? undefined : { role: "assistant", content: text };
  return {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: calls,
    ...(context.takesThinking && toThinkingFields(message, context)),
  };
}

function toCallParam(
  { id, name, input, replay }: ToolCallBlock,
  message: AssistantMessage,
  { provider, model, toWireId }: TurnContext,
): ChatCompletionMessageFunctionToolCall {
  const isOwn = replay?.provider === provider && message.model === model;
  const { extraContent } = asRecord(isOwn ? replay.data : undefined);
  const call: ChatCompletionMessageFunctionToolCall = {
    id: toWireId(id),
    type: "function",
    function: {
      name: toWireName(name, MAX_NAME_CHARS),
      arguments: JSON.stringify(toWellFormedRecord(input)),
    },
  };
  return extraContent === undefined
    ? call
    : { ...call, ...{ extra_content: toWellFormedJson(extraContent) } };
}

/** The text goes back in the field it came in; what is signed or encrypted only to the model that it came from. */
function toThinkingFields(
  message: AssistantMessage,
  { provider, model }: TurnContext,
): Record<string, unknown> {
  const blocks = message.content.filter((block): block is ThinkingBlock => block.type === "thinking");
  const replays = blocks.map(({ thinking, replay }) => ({
    thinking,
    ...readThinkingReplay(replay, provider),
  }));
  const field = replays.find((replay) => replay.field)?.field;
  const text = replays
    .flatMap((replay) => (replay.field ? [replay.thinking.toWellFormed()] : []))
    .join("\n\n");
  const details = message.model === model ? replays.flatMap((replay) => replay.details) : [];
  return {
    ...(field && { [field]: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}
