import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import { isBlank, toSendableHistory } from "../../history.ts";
import {
  type AssistantMessage,
  type ImageBlock,
  type Message,
  type ProviderReplay,
  type ThinkingBlock,
  type ToolCallBlock,
  type ToolResultMessage,
  toolCallsOf,
  type UserMessage,
} from "../../types.ts";
import { type ProviderEndpoint, toEndpoint, type Vendor } from "../endpoint.ts";
import { limitImages, toImageUrl, toUnsentImageNote } from "../images.ts";
import type { Effort, Model, StreamContext, StreamOptions, ToolDefinition } from "../types.ts";
import {
  asRecord,
  asString,
  createWireIds,
  isRecord,
  toWellFormedJson,
  toWellFormedRecord,
  toWireName,
  withToolsAsText,
} from "../wire-format.ts";

/** Where servers put a model's thinking; a gateway that fills several says the same in each. */
const THINKING_FIELDS = ["reasoning_content", "reasoning", "thinking"] as const;

/** One of `THINKING_FIELDS`; thinking goes back in the one it came in. */
export type ThinkingField = (typeof THINKING_FIELDS)[number];

/** An element of `reasoning_details` as the gateway sent it: its fields are the gateway's own. */
export type ReasoningDetail = Record<string, unknown>;

/** What goes back with thinking besides its text: the field it came in, and what a gateway sent with it. */
interface ThinkingReplay {
  field: ThinkingField | undefined;
  details: ReasoningDetail[];
}

/** The thinking in a delta, from the first field that holds any. */
export function readThinking(
  delta: Record<string, unknown>,
): { text: string; field: ThinkingField } | undefined {
  const field = THINKING_FIELDS.find((name) => asString(delta[name]) !== "");
  return field && { text: asString(delta[field]), field };
}

/**
 * Adds what `reasoning_details` brings, as OpenRouter and its like send it: pieces of a text or of a summary belong
 * to the one before, what is encrypted stands by itself.
 */
export function addReasoningDetails(details: ReasoningDetail[], delta: Record<string, unknown>): void {
  const pieces = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isRecord) : [];
  for (const piece of pieces) {
    const last = details.at(-1);
    const goesOn = last && last.type === piece.type && last.index === piece.index && piece.data === undefined;
    if (goesOn) Object.assign(last, joinDetails(last, piece));
    else details.push({ ...piece });
  }
}

function joinDetails(last: ReasoningDetail, piece: ReasoningDetail): ReasoningDetail {
  const told = Object.entries(piece).filter(([, value]) => value != null);
  const isText = (value: unknown) => typeof value === "string";
  const grown = (["text", "summary"] as const)
    .filter((key) => isText(last[key]) && isText(piece[key]))
    .map((key) => [key, `${last[key]}${piece[key]}`]);
  return { ...Object.fromEntries(told), ...Object.fromEntries(grown) };
}

/** Replay data goes back to `provider`, the server's name; there is none without field and details. */
export function toThinkingBlock(
  thinking: string,
  { field, details }: ThinkingReplay,
  provider: string,
): ThinkingBlock {
  if (!field && details.length === 0) return { type: "thinking", thinking };
  const data = { ...(field && { field }), ...(details.length > 0 && { details }) };
  return { type: "thinking", thinking, replay: { provider, data } };
}

/** The field thinking came in and what came with it; empty when it was another server's. */
function readThinkingReplay(replay: ProviderReplay | undefined, provider: string): ThinkingReplay {
  const data = asRecord(replay?.provider === provider ? replay.data : undefined);
  return {
    field: THINKING_FIELDS.find((name) => name === data.field),
    details: Array.isArray(data.details) ? data.details.filter(isRecord).map(toWellFormedRecord) : [],
  };
}

/** What a request can do without. */
export type CompatibleDispensable = "stream_options" | "reasoning_effort" | "thinking" | "images";

/** `maxTokens` and `effort` as they are asked for; what such servers refuse of them is left out. */
interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort"> {
  /** What the server has refused (see `refusalKeyOf`): it is left out. */
  refused?: ReadonlySet<string>;
}

/**
 * The body of a request. It contains only fields that every such server knows; it repeats the messages of the
 * previous request verbatim, which caches depend on.
 */
export function toCompatibleRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): ChatCompletionCreateParamsStreaming {
  const { refused = new Set() } = options;
  const takes = (part: CompatibleDispensable) => !refused.has(refusalKeyOf(part, model));
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
export function refusalKeyOf(part: CompatibleDispensable, { id }: Model): string {
  return part === "stream_options" ? part : `${part} ${id}`;
}

/** True when the request holds what the server refuses, so that it makes sense to ask without. */
export function hasPart(request: ChatCompletionCreateParamsStreaming, part: CompatibleDispensable): boolean {
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

/**
 * A placeholder where a user message is required and there is none: before an answer that opens the conversation or
 * follows one.
 */
const CONTINUE = "Continue.";

// OpenAI's own limit for this API.
const MAX_ID_CHARS = 40;

/** Who is asked, and what of a history cannot be sent. */
export interface MessageOptions extends Omit<TurnContext, "toWireId"> {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  /** False when the server or the model refuses images: notes stand in their place. */
  takesImages: boolean;
}

/**
 * The conversation in the form every server accepts, whatever the history looks like: it begins with the user, user
 * and assistant take turns, as many chat templates require, every call is answered directly behind its message, and
 * there is something to answer at the end. Results can only be text, so their images follow behind the last of them
 * as the user's.
 */
export function toCompatibleMessages(
  messages: readonly Message[],
  options: MessageOptions,
): ChatCompletionMessageParam[] {
  const history = limitImages(toSendableHistory(messages));
  const sendable = options.hasTools ? history : withToolsAsText(history);
  const context = { ...options, toWireId: createWireIds(MAX_ID_CHARS, findOwnIds(sendable, options.model)) };
  const turns: ChatCompletionMessageParam[] = [];
  let results: ToolResultMessage[] = [];
  for (const message of sendable) {
    if (message.role === "tool_result") {
      turns.push(toResultParam(message, context));
      results.push(message);
      continue;
    }
    addResultImages(turns, results, context);
    results = [];
    if (message.role === "user") addUser(turns, toUserContent(message, options.takesImages));
    else addAssistant(turns, toAssistantParam(message, context));
  }
  addResultImages(turns, results, context);
  if (!wantsAnswer(turns)) addUser(turns, CONTINUE);
  return turns;
}

/** Ids that the model itself gave to its calls; some models are trained on their form. */
function findOwnIds(messages: readonly Message[], model: string): Set<string> {
  const own = messages
    .filter((message) => message.role === "assistant")
    .filter((turn) => turn.model === model);
  return new Set(own.flatMap(toolCallsOf).map(({ id }) => id));
}

function wantsAnswer(turns: readonly ChatCompletionMessageParam[]): boolean {
  const role = turns.at(-1)?.role;
  return role === "user" || role === "tool";
}

function toResultParam(
  message: ToolResultMessage,
  { toWireId, takesImages }: MessageOptions & TurnContext,
): ChatCompletionMessageParam {
  const id = toWireId(message.toolCallId);
  return { role: "tool", tool_call_id: id, content: toResultText(message, takesImages) };
}

function addResultImages(
  turns: ChatCompletionMessageParam[],
  results: readonly ToolResultMessage[],
  { toWireId, takesImages }: MessageOptions & TurnContext,
): void {
  const titled = results.map((result) => ({ result, wireId: toWireId(result.toolCallId) }));
  const content = takesImages ? toImageContent(titled) : undefined;
  if (content) addUser(turns, content);
}

function addUser(turns: ChatCompletionMessageParam[], content: UserContent): void {
  const last = turns.at(-1);
  if (last?.role === "user") last.content = joinContent(last.content, content);
  else turns.push({ role: "user", content });
}

function addAssistant(
  turns: ChatCompletionMessageParam[],
  turn: ChatCompletionMessageParam | undefined,
): void {
  if (!turn) return;
  if (!wantsAnswer(turns)) addUser(turns, CONTINUE);
  turns.push(turn);
}

/** A text, or parts where there are images: not every server takes parts. */
type UserContent = ChatCompletionUserMessageParam["content"];

const NO_IMAGES = "[An image was here; it was left out because the model takes none.]";

/** A user's words, with images as parts between them. Text alone is a string: not every server takes lists. */
function toUserContent({ content }: UserMessage, takesImages: boolean): UserContent {
  if (typeof content === "string") return content.toWellFormed();
  const parts = content.flatMap((block): ChatCompletionContentPart[] => {
    if (block.type === "text") return [toTextPart(block.text)];
    return block.type === "image" ? [toImagePart(block, takesImages)] : [];
  });
  return toContent(parts);
}

/** What two user messages say, as one. */
function joinContent(left: UserContent, right: UserContent): UserContent {
  return toContent([...toParts(left), ...toParts(right)]);
}

/** A result's text; it is never empty, and says where images are. */
function toResultText({ output, images = [] }: ToolResultMessage, takesImages: boolean): string {
  const text = isBlank(output) ? [] : [output.toWellFormed()];
  if (images.length === 0) return text.join("");
  return [...text, takesImages ? "[The image follows in the next message.]" : NO_IMAGES].join("\n");
}

/** The images of results as a user's message; undefined when there are none. */
function toImageContent(
  results: ReadonlyArray<{ result: ToolResultMessage; wireId: string }>,
): UserContent | undefined {
  const parts = results.flatMap(({ result, wireId }): ChatCompletionContentPart[] => {
    const { images = [], toolName } = result;
    if (images.length === 0) return [];
    const title = toTextPart(`[Image from the result of ${toolName}, call ${wireId}:]`);
    return [title, ...images.map((image) => toImagePart(image, true))];
  });
  return parts.length > 0 ? parts : undefined;
}

function toContent(parts: ChatCompletionContentPart[]): UserContent {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n\n") : parts;
}

function toParts(content: UserContent): ChatCompletionContentPart[] {
  return typeof content === "string" ? [toTextPart(content)] : content;
}

function toTextPart(text: string): ChatCompletionContentPart {
  return { type: "text", text: text.toWellFormed() };
}

function toImagePart(image: ImageBlock, takesImages: boolean): ChatCompletionContentPart {
  if (!takesImages) return toTextPart(NO_IMAGES);
  const url = toImageUrl(image);
  return url === undefined ? toTextPart(toUnsentImageNote(image)) : { type: "image_url", image_url: { url } };
}

/** An assistant message; thinking goes back in one of several further fields. */
type AssistantParam = ChatCompletionAssistantMessageParam & Record<string, unknown>;

const MAX_NAME_CHARS = 64;

/** Who is asked, and what of an assistant message goes back there. */
interface TurnContext {
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
 * An assistant message as the API takes it; undefined when nothing of it can be sent. Its texts are one: lists of
 * parts are not understood everywhere. A turn with tool calls continues after its results, so the model gets its
 * thinking back, as servers that use it require; thinking of other turns is left out.
 */
function toAssistantParam(message: AssistantMessage, context: TurnContext): AssistantParam | undefined {
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

/** A server that speaks OpenAI's Chat Completions, under the name that a configuration gives it. */
export interface CompatibleServer {
  name: string;
  /** Where requests go and with which key; the key is one that a server without keys passes over when there is none. */
  endpoint: ProviderEndpoint;
  /** Where its errors are found and what they may not repeat. */
  shown: ProviderEndpoint;
  vendor: Vendor;
}

// What the documentation of such servers says to put where a client insists on a key. They are ordinary words, so
// redacting them would hide nothing.
const PLACEHOLDER_KEYS: ReadonlySet<string> = new Set(
  "none x dummy empty EMPTY ollama lm-studio no-key not-needed sk-no-key-required".split(" "),
);

/** `baseUrl` is taken as it is: with `/v1`, where the server has that. */
export function toCompatibleServer(
  name: string,
  { baseUrl, apiKey }: { baseUrl: string; apiKey?: string | undefined },
): CompatibleServer {
  const endpoint = toEndpoint(apiKey || "none", baseUrl);
  const settings = `provider.compatible.${name}`;
  return {
    name,
    endpoint,
    shown: { ...endpoint, apiKey: PLACEHOLDER_KEYS.has(endpoint.apiKey) ? "" : endpoint.apiKey },
    vendor: {
      name,
      keyVariable: `${settings}.apiKey`,
      keyPlaceholder: `[key of ${name}]`,
      urlVariable: `${settings}.baseUrl`,
    },
  };
}

/** The server's address as messages show it: without a password or a key that somebody wrote into it. */
export function addressOf({ endpoint }: CompatibleServer): string {
  const url = URL.parse(endpoint.baseUrl);
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, "")}` : endpoint.host;
}

/** The model's id as the server knows it: what follows the server's name, slashes and colons included. */
export function toServerModelId(modelId: string): string {
  return modelId.slice(modelId.indexOf("/") + 1);
}
