import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import { isBlank } from "../result-texts.ts";
import { toWellFormedRecord } from "./json-value.ts";
import type { Dispensable } from "./openai-errors.ts";
import { toOpenAIInput } from "./openai-input.ts";
import { reasoningKeyOf } from "./openai-pieces.ts";
import { toReasoningFields } from "./openai-reasoning.ts";
import type { Model, StreamContext, StreamOptions, ToolDefinition } from "./types.ts";

/** `sessionId` becomes the key of the prompt cache; `maxTokens` can lower the model's own limit only. */
export interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort" | "sessionId"> {
  /** What the API has refused (see `refusalKeysOf`): it is left out. */
  refused?: ReadonlySet<string>;
}

// The API's own limits.
const MIN_OUTPUT_TOKENS = 16;
const MAX_CACHE_KEY_CHARS = 64;

/**
 * The body of a request. Nothing is stored at OpenAI, so it holds the whole conversation; it repeats the instructions, tools
 * and input of the request before it word for word, which is what caches depend on.
 */
export function toOpenAIRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): ResponseCreateParamsStreaming {
  const { effort, sessionId, refused = new Set() } = options;
  const maxTokens = Math.min(options.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const hasTools = context.tools.length > 0;
  const hasSummary = !refused.has(`summary ${model.id}`);
  const isRefused = refused.has(`reasoning ${model.id}`);
  const reasoning = isRefused ? {} : toReasoningFields(model, { effort, hasSummary });
  return {
    model: model.id,
    stream: true,
    store: false,
    ...(!isBlank(context.systemPrompt) && { instructions: context.systemPrompt.toWellFormed() }),
    input: toOpenAIInput(context.messages, { hasTools, takesReasoning: "reasoning" in reasoning, refused }),
    ...(hasTools && { tools: context.tools.map(toTool) }),
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens),
    ...(sessionId && { prompt_cache_key: sessionId.slice(0, MAX_CACHE_KEY_CHARS) }),
    ...reasoning,
  };
}

/** What stands for a part of a request in `refused`; empty when the request does not have it. */
export function refusalKeysOf(request: ResponseCreateParamsStreaming, part: Dispensable): string[] {
  const { model, reasoning, input } = request;
  switch (part) {
    case "summary":
      return reasoning?.summary ? [`summary ${model}`] : [];
    case "reasoning":
      return reasoning ? [`reasoning ${model}`] : [];
    default:
      return Array.isArray(input) ? input.flatMap(keyOfItem) : [];
  }
}

/** With the reasoning go the ids of all that it may have led to. */
function keyOfItem(item: ResponseInputItem): string[] {
  if (item.type === "reasoning") return [reasoningKeyOf(item)];
  return "id" in item && item.id ? [item.id] : [];
}

/**
 * Not strict: strict mode wants every argument required and refuses a part of JSON Schema, so it would change what the
 * tools say. Arguments are checked when a call is run.
 */
function toTool(tool: ToolDefinition): FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description.toWellFormed(),
    parameters: { ...toWellFormedRecord(tool.inputSchema), type: "object" },
    strict: false,
  };
}
