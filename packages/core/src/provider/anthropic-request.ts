import type {
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages/messages";
import { isBlank } from "../result-texts.ts";
import { toTextParam } from "./anthropic-blocks.ts";
import { CACHE_MARKER, markLastUserTurns } from "./anthropic-cache.ts";
import { toAnthropicMessages } from "./anthropic-messages.ts";
import { toThinkingFields } from "./anthropic-thinking.ts";
import { toWellFormedRecord } from "./json-value.ts";
import type { Model, StreamContext, StreamOptions, ToolDefinition } from "./types.ts";

/** Without `maxTokens` the model's own limit holds, above which it cannot be raised. */
export interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort"> {
  /** Signatures and redacted data of thinking that the API has refused: such blocks are left out. */
  rejectedThinking?: ReadonlySet<string>;
}

/**
 * The body of a request. Compared without `cache_control`, it repeats system, tools and messages of the request before
 * it word for word: caches and the signatures of thinking depend on that.
 */
export function toAnthropicRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): MessageCreateParamsStreaming {
  const { effort, rejectedThinking = new Set() } = options;
  const maxTokens = Math.max(1, Math.min(options.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens));
  const messages = toAnthropicMessages(context.messages, {
    hasTools: context.tools.length > 0,
    rejectedThinking,
  });
  return {
    model: model.id,
    max_tokens: maxTokens,
    stream: true,
    ...(!isBlank(context.systemPrompt) && { system: toSystem(context.systemPrompt) }),
    ...(context.tools.length > 0 && { tools: toTools(context.tools) }),
    messages: markLastUserTurns(messages),
    ...toThinkingFields(model, messages, { effort, maxTokens }),
  };
}

/** What identifies each thinking block of a request: its signature, or its data when it is redacted. */
export function thinkingOf(request: MessageCreateParamsStreaming): string[] {
  return request.messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) => {
          if (block.type === "thinking") return [block.signature];
          return block.type === "redacted_thinking" ? [block.data] : [];
        }),
  );
}

function toSystem(systemPrompt: string): TextBlockParam[] {
  return [{ ...toTextParam(systemPrompt), ...CACHE_MARKER }];
}

function toTools(tools: readonly ToolDefinition[]): Tool[] {
  return tools.map((tool, index) => ({
    name: tool.name,
    description: tool.description.toWellFormed(),
    input_schema: { ...toWellFormedRecord(tool.inputSchema), type: "object" },
    ...(index === tools.length - 1 && CACHE_MARKER),
  }));
}
