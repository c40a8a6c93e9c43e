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

/** The fields in which servers put a model's thinking. A gateway that fills several repeats the same text in each. */
const THINKING_FIELDS = ["reasoning_content", "reasoning", "thinking"] as const;

/** One of `THINKING_FIELDS`. Thinking is sent back in the field it arrived in. */
export type ThinkingField = (typeof THINKING_FIELDS)[number];

/** An element of `reasoning_details` as the gateway sent it: its fields are the gateway's own. */
export type ReasoningDetail = Record<string, unknown>;

/** What is sent back with thinking besides its text: the field it arrived in, and any details from a gateway. */
interface ThinkingReplay {
  field: ThinkingField | undefined;
  details: ReasoningDetail[];
}

/** The thinking in a delta, from the first field that contains any. */
export function readThinking(
  delta: Record<string, unknown>,
): { text: string; field: ThinkingField } | undefined {
  const field = THINKING_FIELDS.find((name) => asString(delta[name]) !== "");
  return field && { text: asString(delta[field]), field };
}

/**
 * Adds the `reasoning_details` that OpenRouter and similar gateways send. Pieces of a text or a summary extend the
 * previous detail; an encrypted detail is a separate one.
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

/**
 * The thinking block. Its replay data is addressed to `provider`, the server's name; without field and details it has
 * none.
 */
export function toThinkingBlock(
  thinking: string,
  { field, details }: ThinkingReplay,
  provider: string,
): ThinkingBlock {
  if (!field && details.length === 0) return { type: "thinking", thinking };
  const data = { ...(field && { field }), ...(details.length > 0 && { details }) };
  return { type: "thinking", thinking, replay: { provider, data } };
}

/** The field the thinking arrived in and its details; empty if it came from another server. */
function readThinkingReplay(replay: ProviderReplay | undefined, provider: string): ThinkingReplay {
  const data = asRecord(replay?.provider === provider ? replay.data : undefined);
  return {
    field: THINKING_FIELDS.find((name) => name === data.field),
    details: Array.isArray(data.details) ? data.details.filter(isRecord).map(toWellFormedRecord) : [],
  };
}

/** The optional parts of a request. */
export type CompatibleDispensable = "stream_options" | "reasoning_effort" | "thinking" | "images";

/** The requested `maxTokens` and `effort`; values that such servers reject are left out. */
interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort"> {
  /** The parts that the server has rejected (see `refusalKeyOf`); they are left out. */
  refused?: ReadonlySet<string>;
}

/**
 * The body of a request. It contains only fields that every compatible server knows. It repeats the messages of the
 * previous request verbatim, because caches depend on that.
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

/** The key of a request part in the set of rejected parts; most keys depend on the model. */
export function refusalKeyOf(part: CompatibleDispensable, { id }: Model): string {
  return part === "stream_options" ? part : `${part} ${id}`;
}

/**
 * True if the request contains the part that the server rejects, so that repeating the request without it can
 * succeed.
 */
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

/** A limit as large as the window has no meaning, and servers reject it because the request needs space too. */
function toMaxTokens(
  { maxOutputTokens, contextWindow }: Model,
  asked: number | undefined,
): number | undefined {
  const isLimit = maxOutputTokens > 0 && (maxOutputTokens < contextWindow || !(contextWindow > 0));
  const limits = [asked, isLimit ? maxOutputTokens : undefined].filter((limit) => limit !== undefined);
  return limits.length > 0 ? Math.max(1, Math.floor(Math.min(...limits))) : undefined;
}

/** The effort, if one was requested. The steps above `high` exist at OpenAI only; other servers reject them. */
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
 * A placeholder for a required user message: before an answer that opens the conversation or follows another answer.
 */
const CONTINUE = "Continue.";

// OpenAI's own limit for this API.
const MAX_ID_CHARS = 40;

/** The target of the messages, and the parts of a history that cannot be sent to it. */
export interface MessageOptions extends Omit<TurnContext, "toWireId"> {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  /** False if the server or the model rejects images: notes replace them. */
  takesImages: boolean;
}

/**
 * The conversation in a form that every server accepts, for any history: it begins with a user message, user and
 * assistant alternate (many chat templates require that), every call is followed directly by its result, and the last
 * message needs an answer. Results can only be text, so their images follow the last result in a user message.
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

/** The ids that the model itself gave to its calls. Some models are trained on the form of their ids. */
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

/** A text, or parts if there are images: not every server accepts parts. */
type UserContent = ChatCompletionUserMessageParam["content"];

const NO_IMAGES = "[An image was here; it was left out because the model takes none.]";

/** A user message with its images as parts. Text alone is sent as a string: not every server accepts lists. */
function toUserContent({ content }: UserMessage, takesImages: boolean): UserContent {
  if (typeof content === "string") return content.toWellFormed();
  const parts = content.flatMap((block): ChatCompletionContentPart[] => {
    if (block.type === "text") return [toTextPart(block.text)];
    return block.type === "image" ? [toImagePart(block, takesImages)] : [];
  });
  return toContent(parts);
}

/** The content of two user messages as one. */
function joinContent(left: UserContent, right: UserContent): UserContent {
  return toContent([...toParts(left), ...toParts(right)]);
}

/** A result's text, which is never empty and mentions the images that follow. */
function toResultText({ output, images = [] }: ToolResultMessage, takesImages: boolean): string {
  const text = isBlank(output) ? [] : [output.toWellFormed()];
  if (images.length === 0) return text.join("");
  return [...text, takesImages ? "[The image follows in the next message.]" : NO_IMAGES].join("\n");
}

/** The images of results as a user message; undefined if there are none. */
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

/** An assistant message; its thinking is sent in one of several additional fields. */
type AssistantParam = ChatCompletionAssistantMessageParam & Record<string, unknown>;

const MAX_NAME_CHARS = 64;

/** The target of an assistant message, and the parts of it that can be sent back. */
interface TurnContext {
  /** The server's name: replay data with this name is sent back. */
  provider: string;
  /** The id of the requested model, as the caller gave it. */
  model: string;
  /** False if the server rejects thinking in the history. */
  takesThinking: boolean;
  /** Converts an id to one that the server accepts. */
  toWireId(toolCallId: string): string;
}

/**
 * An assistant message for the API; undefined if no part of it can be sent. Its texts are joined, because not every
 * server accepts lists of parts. A turn with tool calls continues after its results, so its thinking is sent back, as
 * some servers require; the thinking of other turns is left out.
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

/**
 * The thinking text, in the field it arrived in. Signed or encrypted details are sent only to the model that produced
 * them.
 */
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

/** A server with OpenAI's Chat Completions API, under its configured name. */
export interface CompatibleServer {
  name: string;
  /** The address and the key; a server without keys ignores the placeholder key. */
  endpoint: ProviderEndpoint;
  /** The server's name in error messages, and the text that they must not repeat. */
  shown: ProviderEndpoint;
  vendor: Vendor;
}

// Values that the documentation of such servers suggests if a client requires a key. They are ordinary words, so
// redacting them would hide nothing.
const PLACEHOLDER_KEYS: ReadonlySet<string> = new Set(
  "none x dummy empty EMPTY ollama lm-studio no-key not-needed sk-no-key-required".split(" "),
);

/** `baseUrl` is used unchanged, including `/v1` if the server needs it. */
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

/** The server's address for messages, without a password or key in it. */
export function addressOf({ endpoint }: CompatibleServer): string {
  const url = URL.parse(endpoint.baseUrl);
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, "")}` : endpoint.host;
}

/** The model's id on the server: everything after the server's name and the first slash. */
export function toServerModelId(modelId: string): string {
  return modelId.slice(modelId.indexOf("/") + 1);
}
