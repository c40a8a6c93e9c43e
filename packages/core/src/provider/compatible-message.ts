import type { AssistantMessage, ContentBlock, StopReason, ToolCallBlock } from "../types.ts";
import { toCallInput } from "./call-input.ts";
import { type CallDraft, hasWholeInput } from "./compatible-calls.ts";
import type { CompatibleAnswer, Draft } from "./compatible-events.ts";
import { toThinkingBlock } from "./compatible-reasoning.ts";

/** What a message says of itself that the server does not tell. */
export interface MessageFrame {
  /** The id of the model that was asked, as it was handed in. */
  model: string;
  /** The name of the server, under which goes what only it understands. */
  provider: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/** What servers call an answer that has met a limit. */
const CUT_REASONS: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "model_length",
  "model_context_window_exceeded",
  // The rest does not come, whoever asks again.
  "content_filter",
]);

/**
 * The answer as a message. One that is not finished was aborted: it holds what had arrived, without calls that were
 * not complete.
 */
export function toAssistantMessage(answer: CompatibleAnswer, frame: MessageFrame): AssistantMessage {
  const content = toContent(answer, frame.provider);
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

/** @param frame.isCut true when the arguments may have been cut off. */
export function toToolCall(
  { id, name, json, extraContent }: CallDraft,
  { isCut, provider = "" }: { isCut: boolean; provider?: string },
): ToolCallBlock {
  return {
    type: "tool_call",
    id,
    name,
    ...toCallInput(json, isCut),
    ...(extraContent !== undefined && { replay: { provider, data: { extraContent } } }),
  };
}

function toContent(answer: CompatibleAnswer, provider: string): ContentBlock[] {
  const { drafts, details } = answer;
  const kept = answer.isFinished ? drafts : drafts.filter(isReadableHalf);
  const isCut = isCutShort(answer);
  const firstThinking = kept.find(({ type }) => type === "thinking");
  const blocks = kept.map((draft): ContentBlock => {
    switch (draft.type) {
      case "text":
        return { type: "text", text: draft.text };
      case "thinking":
        return toThinkingBlock(
          draft.text,
          { field: draft.field, details: draft === firstThinking ? details : [] },
          provider,
        );
      default:
        return toToolCall(draft, { isCut: isCut && draft === drafts.at(-1), provider });
    }
  });
  if (firstThinking || details.length === 0 || !answer.isFinished) return blocks;
  return [toThinkingBlock("", { field: undefined, details }, provider), ...blocks];
}

/** Of an answer that broke off; a call is over when something has come after it. */
function isReadableHalf(draft: Draft, index: number, drafts: readonly Draft[]): boolean {
  return draft.type !== "tool_call" || (index < drafts.length - 1 && hasWholeInput(draft));
}

function isCutShort({ rawStopReason }: CompatibleAnswer): boolean {
  return rawStopReason !== undefined && CUT_REASONS.has(rawStopReason);
}

function toStopReason(answer: CompatibleAnswer, content: readonly ContentBlock[]): StopReason {
  if (isCutShort(answer)) return "max_tokens";
  if (answer.isRefused) return "error";
  // Many a server says `stop` though there are calls.
  return content.some(({ type }) => type === "tool_call") ? "tool_use" : "end_turn";
}
