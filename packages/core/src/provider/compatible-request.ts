import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
} from "openai/resources/chat/completions";
import { isBlank } from "../result-texts.ts";
import { toCompatibleMessages } from "./compatible-messages.ts";
import { THINKING_FIELDS } from "./compatible-reasoning.ts";
import { toServerModelId } from "./compatible-server.ts";
import { toWellFormedRecord } from "./json-value.ts";
import type { Effort, Model, StreamContext, StreamOptions, ToolDefinition } from "./types.ts";

/** What a request can do without. */
export type Dispensable = "stream_options" | "reasoning_effort" | "thinking" | "images";

/** `maxTokens` and `effort` as they are asked for; what such servers refuse of them is left out. */
export interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort"> {
  /** What the server has refused (see `refusalKeyOf`): it is left out. */
  refused?: ReadonlySet<string>;
}

/**
 * The body of a request. Only what every such server knows is in it; it repeats the messages of the request before it
 * word for word, which is what caches depend on.
 */
export function toCompatibleRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): ChatCompletionCreateParamsStreaming {
  const { refused = new Set() } = options;
  const takes = (part: Dispensable) => !refused.has(refusalKeyOf(part, model));
  const hasTools = context.tools.length > 0;
  const maxTokens = toMaxTokens(model, options.maxTokens);
  const effort = takes("reasoning_effort") ? toEffort(model, options.effort) : undefined;
  const messages = toCompatibleMessages(context.messages, {
    provider: model.provider,
    model: model.id,
    hasTools,
    takesThinking: takes("thinking"),
    takesImages: takes("images"),
  });
  const system = isBlank(context.systemPrompt) ? [] : [toSystem(context.systemPrompt)];
  return {
    model: toServerModelId(model.id),
    messages: [...system, ...messages],
    ...(hasTools && { tools: context.tools.map(toTool) }),
    stream: true,
    ...(takes("stream_options") && { stream_options: { include_usage: true } }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(effort && { reasoning_effort: effort }),
  };
}

/** What stands for a part of requests among those that the server has refused; most depend on the model. */
export function refusalKeyOf(part: Dispensable, { id }: Model): string {
  return part === "stream_options" ? part : `${part} ${id}`;
}

/** True when the request holds what the server refuses, so that it makes sense to ask without. */
export function hasPart(request: ChatCompletionCreateParamsStreaming, part: Dispensable): boolean {
  switch (part) {
    case "stream_options":
    case "reasoning_effort":
      return request[part] !== undefined;
    case "thinking":
      return request.messages.some((message) => THINKING_KEYS.some((field) => field in message));
    default:
      return request.messages.some(({ content }) => hasImage(content));
  }
}

const THINKING_KEYS = [...THINKING_FIELDS, "reasoning_details"];

function hasImage(content: unknown): boolean {
  return Array.isArray(content) && content.some(({ type }) => type === "image_url");
}

function toSystem(systemPrompt: string) {
  return { role: "system" as const, content: systemPrompt.toWellFormed() };
}

/** A limit as large as the window says nothing, and servers refuse it: the request needs room too. */
function toMaxTokens(
  { maxOutputTokens, contextWindow }: Model,
  asked: number | undefined,
): number | undefined {
  const isLimit = maxOutputTokens > 0 && (maxOutputTokens < contextWindow || !(contextWindow > 0));
  const limits = [asked, isLimit ? maxOutputTokens : undefined].filter((limit) => limit !== undefined);
  return limits.length > 0 ? Math.max(1, Math.floor(Math.min(...limits))) : undefined;
}

/** Only an effort that was asked for; the steps above `high` are OpenAI's own, and other servers refuse them. */
function toEffort(
  { thinking }: Model,
  effort: Effort | undefined,
): "none" | "low" | "medium" | "high" | undefined {
  if (effort === undefined || thinking === "none") return undefined;
  if (effort === "off") return thinking === "always" ? "low" : "none";
  return effort === "xhigh" || effort === "max" ? "high" : effort;
}

function toTool({ name, description, inputSchema }: ToolDefinition): ChatCompletionFunctionTool {
  const parameters = { ...toWellFormedRecord(inputSchema), type: "object" };
  return { type: "function", function: { name, description: description.toWellFormed(), parameters } };
}
