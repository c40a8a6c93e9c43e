import type { AssistantMessage, ContentBlock, StopReason, Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import {
  type BlockDraft,
  createBlockDraft,
  growBlock,
  toContentBlock,
  toToolCall,
} from "./anthropic-drafts.ts";
import { asRecord, asString, countOf } from "./json-value.ts";
import type { ProviderEvent } from "./types.ts";

/** What has arrived of an answer. */
export interface AnthropicAnswer {
  drafts: BlockDraft[];
  usage: Usage;
  rawStopReason: string | undefined;
  isStarted: boolean;
  /** True after `message_stop`: an answer that ends without it was cut. */
  isFinished: boolean;
}

/** To be handed to `applyAnthropicEvent` with each event of one response; it is changed by them. */
export function createAnthropicAnswer(): AnthropicAnswer {
  return {
    drafts: [],
    usage: EMPTY_USAGE,
    rawStopReason: undefined,
    isStarted: false,
    isFinished: false,
  };
}

/**
 * Takes one event of the API into the answer and returns what it means to us. Usage events are cumulative. Unknown
 * events and fields are passed over; a block's events may come between those of another.
 */
export function applyAnthropicEvent(answer: AnthropicAnswer, event: unknown): ProviderEvent[] {
  const fields = asRecord(event);
  switch (fields.type) {
    case "message_start":
      return startMessage(answer, asRecord(fields.message));
    case "content_block_start":
      return startBlock(answer, fields.index, fields.content_block);
    case "content_block_delta":
      return applyDelta(findOpenBlock(answer, fields.index), asRecord(fields.delta));
    case "content_block_stop":
      return stopBlock(findOpenBlock(answer, fields.index));
    case "message_delta":
      return applyMessageDelta(answer, fields);
    case "message_stop":
      answer.isFinished = true;
      return answer.drafts.filter((draft) => !draft.isStopped).flatMap(endEvents);
    default:
      return [];
  }
}

/** What a message says of itself that the API does not tell. */
export interface MessageFrame {
  /** The id of the model that was asked. */
  model: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/**
 * The answer as a message. One that is not finished was aborted: it holds what had arrived, without calls, signatures
 * and foreign blocks that were not complete.
 */
export function toAssistantMessage(answer: AnthropicAnswer, frame: MessageFrame): AssistantMessage {
  const content = answer.drafts
    .map((draft) => toFinalBlock(answer, draft))
    .filter((block) => block !== undefined);
  const { rawStopReason } = answer;
  return {
    role: "assistant",
    content,
    model: frame.model,
    usage: answer.usage,
    stopReason: answer.isFinished ? toStopReason(rawStopReason, content) : "aborted",
    ...(rawStopReason !== undefined && { rawStopReason }),
    timestamp: frame.timestamp,
  };
}

/** A message may begin with blocks that are complete already, as when the provider's own code called our tools. */
function startMessage(answer: AnthropicAnswer, message: Record<string, unknown>): ProviderEvent[] {
  if (answer.isStarted) return [];
  answer.isStarted = true;
  answer.rawStopReason = asString(message.stop_reason) || undefined;
  answer.usage = mergeUsage(answer.usage, asRecord(message.usage));
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : [];
  return [
    { type: "start" },
    { type: "usage", usage: answer.usage },
    ...blocks.flatMap((block, index) => [
      ...startBlock(answer, index, block),
      ...stopBlock(findOpenBlock(answer, index)),
    ]),
  ];
}

function startBlock(answer: AnthropicAnswer, index: unknown, contentBlock: unknown): ProviderEvent[] {
  const draft = createBlockDraft(index, contentBlock);
  answer.drafts.push(draft);
  const { type, id, name, text, thinking } = draft.raw;
  if (type === "tool_use") return [{ type: "tool_call_start", id: asString(id), name: asString(name) }];
  if (type === "text") return textDelta("text_delta", asString(text));
  return type === "thinking" ? textDelta("thinking_delta", asString(thinking)) : [];
}

function findOpenBlock(answer: AnthropicAnswer, index: unknown): BlockDraft | undefined {
  return answer.drafts.findLast((draft) => draft.index === index && !draft.isStopped);
}

function applyDelta(draft: BlockDraft | undefined, delta: Record<string, unknown>): ProviderEvent[] {
  if (!draft) return [];
  growBlock(draft, delta);
  const { type, id } = draft.raw;
  if (type === "text") return textDelta("text_delta", asString(delta.text));
  if (type === "thinking") return textDelta("thinking_delta", asString(delta.thinking));
  if (type !== "tool_use" || asString(delta.partial_json) === "") return [];
  return [{ type: "tool_call_delta", id: asString(id), delta: asString(delta.partial_json) }];
}

function textDelta(type: "text_delta" | "thinking_delta", delta: string): ProviderEvent[] {
  return delta === "" ? [] : [{ type, delta }];
}

function stopBlock(draft: BlockDraft | undefined): ProviderEvent[] {
  if (!draft) return [];
  draft.isStopped = true;
  return endEvents(draft);
}

function endEvents(draft: BlockDraft): ProviderEvent[] {
  if (draft.raw.type === "tool_use") {
    const { id, name, input } = toToolCall(draft, false);
    return [{ type: "tool_call_end", id, name, input }];
  }
  const block = toContentBlock(draft, false);
  if (block?.type === "text") return [{ type: "text_end", text: block.text }];
  if (block?.type !== "thinking" || block.replay) return [];
  const { thinking, signature } = block;
  return [{ type: "thinking_end", thinking, ...(signature !== undefined && { signature }) }];
}

function applyMessageDelta(answer: AnthropicAnswer, fields: Record<string, unknown>): ProviderEvent[] {
  const reason = asString(asRecord(fields.delta).stop_reason);
  if (reason !== "") answer.rawStopReason = reason;
  answer.usage = mergeUsage(answer.usage, asRecord(fields.usage));
  return [{ type: "usage", usage: answer.usage }];
}

/** The newest figures win; they are cumulative, and a field that is missing or null says nothing. */
function mergeUsage(usage: Usage, raw: Record<string, unknown>): Usage {
  const figure = (value: unknown, before: number) => (typeof value === "number" ? countOf(value) : before);
  return {
    inputTokens: figure(raw.input_tokens, usage.inputTokens),
    outputTokens: figure(raw.output_tokens, usage.outputTokens),
    cacheReadTokens: figure(raw.cache_read_input_tokens, usage.cacheReadTokens),
    cacheWriteTokens: figure(raw.cache_creation_input_tokens, usage.cacheWriteTokens),
  };
}

function toFinalBlock(answer: AnthropicAnswer, draft: BlockDraft): ContentBlock | undefined {
  const isReadableHalf = draft.raw.type === "text" || draft.raw.type === "thinking";
  if (!answer.isFinished && !draft.isStopped && !isReadableHalf) return undefined;
  const isLast = draft === answer.drafts.at(-1);
  const isCut = !draft.isStopped || (isLast && toStopReason(answer.rawStopReason, []) === "max_tokens");
  return toContentBlock(draft, isCut);
}

function toStopReason(raw: string | undefined, content: readonly ContentBlock[]): StopReason {
  switch (raw) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "max_tokens";
    case "refusal":
      return "error";
    case "pause_turn":
      return "tool_use";
    default:
      // `tool_use` without a call would read as a pause, and calls without `tool_use` would never be answered.
      return content.some((block) => block.type === "tool_call") ? "tool_use" : "end_turn";
  }
}
