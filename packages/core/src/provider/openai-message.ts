import type { AssistantMessage, ContentBlock, StopReason, Usage } from "../types.ts";
import { asRecord, countOf } from "./json-value.ts";
import type { OpenAIAnswer } from "./openai-events.ts";
import { toContentBlocks } from "./openai-items.ts";

/** What a message says of itself that the API does not tell. */
export interface MessageFrame {
  /** The id of the model that was asked. */
  model: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/**
 * The answer as a message. One that is not finished was aborted: it holds what had arrived, without calls and foreign
 * items that were not complete.
 */
export function toAssistantMessage(answer: OpenAIAnswer, frame: MessageFrame): AssistantMessage {
  const content = toContent(answer);
  const stopReason = answer.isFinished ? toStopReason(answer, content) : "aborted";
  const rawStopReason = stopReason === "error" ? "refusal" : answer.rawStopReason;
  return {
    role: "assistant",
    content,
    model: frame.model,
    usage: answer.usage,
    stopReason,
    ...(rawStopReason !== undefined && { rawStopReason }),
    timestamp: frame.timestamp,
  };
}

/** OpenAI counts what was read from the cache or written to it as input, and reasoning as output. */
export function toUsage(raw: Record<string, unknown>): Usage {
  const details = asRecord(raw.input_tokens_details);
  const cacheReadTokens = countOf(details.cached_tokens);
  const cacheWriteTokens = countOf(details.cache_write_tokens);
  return {
    inputTokens: Math.max(0, countOf(raw.input_tokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: countOf(raw.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function toContent({ drafts, isFinished, isIncomplete }: OpenAIAnswer): ContentBlock[] {
  const inOrder = drafts.toSorted((left, right) => countOf(left.outputIndex) - countOf(right.outputIndex));
  let followsReasoning = false;
  return inOrder.flatMap((draft) => {
    const { type, status } = draft.raw;
    const isReadableHalf = type === "message" || type === "reasoning";
    if (!isFinished && !draft.isDone && !isReadableHalf) return [];
    const isWhole = draft.isDone && status !== "incomplete" && status !== "in_progress";
    const isCut = !isWhole || (isIncomplete && draft === inOrder.at(-1));
    const blocks = toContentBlocks(draft, { isCut, followsReasoning });
    followsReasoning ||= type === "reasoning";
    return blocks;
  });
}

function toStopReason({ drafts, isIncomplete }: OpenAIAnswer, content: readonly ContentBlock[]): StopReason {
  // Cut by the token limit or by a content filter: the rest does not come, whoever asks again.
  if (isIncomplete) return "max_tokens";
  if (drafts.some(({ texts }) => texts.some(({ kind }) => kind === "refusal"))) return "error";
  return content.some((block) => block.type === "tool_call") ? "tool_use" : "end_turn";
}
