import type {
  MessageCreateParamsStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { Effort, Model } from "./types.ts";

type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;

const MIN_BUDGET_TOKENS = 1024;

/** Tokens of thinking for the models that want a number; each step about doubles, up to what they were made for. */
const BUDGET_TOKENS: Readonly<Record<Exclude<Effort, "off">, number>> = {
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/**
 * Without `effort` an adaptive model chooses for itself, and one with a budget does not think. `maxTokens` is
 * for the whole answer; a budget takes half of it at most.
 */
export interface ThinkingOptions {
  effort: Effort | undefined;
  maxTokens: number;
}

/** The fields of a request that ask for thinking, empty where the model has none or nobody asked. */
export function toThinkingFields(
  model: Model,
  messages: readonly MessageParam[],
  { effort, maxTokens }: ThinkingOptions,
): ThinkingFields {
  switch (model.thinking) {
    case "adaptive":
      return effort === "off" ? thinkingOff(model) : adaptive(effort);
    case "always":
      return adaptive(effort === "off" ? "low" : effort);
    case "budget":
      if (effort === undefined || effort === "off" || isMidTurnWithoutThinking(messages)) return {};
      return budget(Math.min(BUDGET_TOKENS[effort], Math.floor(maxTokens / 2)));
    default:
      return {};
  }
}

// Several models leave the text of their thinking out unless a summary is asked for.
function adaptive(effort: Exclude<Effort, "off"> | undefined): ThinkingFields {
  return {
    thinking: { type: "adaptive", display: "summarized" },
    ...(effort && { output_config: { effort } }),
  };
}

/** Sonnet 5.5 refuses `disabled` and has its own word for it (platform.claude.com, "What's new in Claude Sonnet 5.5"). */
function thinkingOff(model: Model): ThinkingFields {
  return { thinking: { type: /sonnet-5-5/.test(model.id) ? "between_tools" : "disabled" } };
}

function budget(tokens: number): ThinkingFields {
  return tokens < MIN_BUDGET_TOKENS ? {} : { thinking: { type: "enabled", budget_tokens: tokens } };
}

/**
 * With a budget, a turn that goes on after tool results must have begun with thinking. One that did not, such as after
 * a change of model or effort, is finished without.
 */
function isMidTurnWithoutThinking(messages: readonly MessageParam[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== "user" || firstBlockType(last) !== "tool_result") return false;
  const turn = messages.findLast((message) => message.role === "assistant");
  return turn !== undefined && !/thinking$/.test(firstBlockType(turn) ?? "");
}

function firstBlockType(message: MessageParam): string | undefined {
  return typeof message.content === "string" ? undefined : message.content[0]?.type;
}
