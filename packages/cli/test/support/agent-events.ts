import type { AgentEvent, Model, Usage } from "@diligent/core";

type AssistantMessage = Extract<AgentEvent, { type: "message_end" }>["message"];

export const PRICED_MODEL: Model = {
  id: "claude-test",
  provider: "anthropic",
  contextWindow: 200_000,
  maxOutputTokens: 1000,
  inputCostPer1M: 1,
  outputCostPer1M: 2,
};

export function assistantMessage(text: string, fields: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    model: PRICED_MODEL.id,
    usage: usage(0),
    stopReason: "end_turn",
    timestamp: 0,
    ...fields,
  };
}

export function usage(tokens: number): Usage {
  return { inputTokens: tokens, outputTokens: tokens, cacheReadTokens: tokens, cacheWriteTokens: tokens };
}
