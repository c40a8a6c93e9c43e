import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
  Tool,
  WebSearchTool,
} from "openai/resources/responses/responses";
import { isBlank, toSendableHistory } from "../../history.ts";
import {
  type AssistantMessage,
  type ImageBlock,
  type Message,
  type OpaqueBlock,
  type ToolResultMessage,
  toolCallsOf,
  type UserMessage,
} from "../../types.ts";
import { limitImages, toImageUrl, toUnsentImageNote } from "../images.ts";
import type {
  Effort,
  Model,
  StreamContext,
  StreamOptions,
  ThinkingSupport,
  ToolDefinition,
} from "../types.ts";
import { asRecord, asString, createWireIds, toWellFormedRecord, withToolsAsText } from "../wire-format.ts";
import type { OpenAIDispensable } from "./client.ts";
import { OPENAI, TOOL_SEARCH } from "./items.ts";
import { isToolSearch, type Piece, type PieceContext, reasoningKeyOf, toPieces } from "./response.ts";

/** `sessionId` becomes the key of the prompt cache; `maxTokens` can only lower the model's own limit. */
interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort" | "sessionId" | "webSearch"> {
  /** The parts that the API has rejected (see `refusalKeysOf`); they are left out. */
  refused?: ReadonlySet<string>;
}

// The API's own limits.
const MIN_OUTPUT_TOKENS = 16;
const MAX_CACHE_KEY_CHARS = 64;

/**
 * The body of a request. Nothing is stored at OpenAI, so it contains the whole conversation. It repeats the
 * instructions, tools and input of the previous request verbatim, because caches depend on that.
 */
export function toOpenAIRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): ResponseCreateParamsStreaming {
  const { effort, sessionId, refused = new Set() } = options;
  const maxTokens = Math.min(options.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const { tools } = context;
  const hasTools = tools.length > 0;
  const deferredTools = tools.filter(({ isDeferred }) => isDeferred);
  const hasSummary = !refused.has(`summary ${model.id}`);
  const isRefused = refused.has(`reasoning ${model.id}`);
  const reasoning = isRefused ? {} : toReasoningFields(model, { effort, hasSummary });
  return {
    model: model.id,
    stream: true,
    store: false,
    ...(!isBlank(context.systemPrompt) && { instructions: context.systemPrompt.toWellFormed() }),
    input: toOpenAIInput(context.messages, {
      hasTools,
      deferredTools,
      takesReasoning: "reasoning" in reasoning,
      refused,
    }),
    ...(hasTools && { tools: [...toSearchTool(options), ...toTools(tools)] }),
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens),
    ...(sessionId && { prompt_cache_key: sessionId.slice(0, MAX_CACHE_KEY_CHARS) }),
    ...reasoning,
  };
}

/** The keys of a request part in `refused`; empty if the request does not have it. */
export function refusalKeysOf(request: ResponseCreateParamsStreaming, part: OpenAIDispensable): string[] {
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

/** Reasoning is left out together with the ids of all items that it may have led to. */
function keyOfItem(item: ResponseInputItem): string[] {
  if (item.type === "reasoning") return [reasoningKeyOf(item)];
  return "id" in item && item.id ? [item.id] : [];
}

/** With deferred tools, ours that searches for them is one of the API's own kind. */
function toTools(tools: readonly ToolDefinition[]): Tool[] {
  const hasDeferred = tools.some(({ isDeferred }) => isDeferred);
  return tools.map((tool): Tool => {
    const { type: _, name, strict: __, ...search } = toTool(tool);
    if (!hasDeferred || name !== TOOL_SEARCH) return toTool(tool);
    return { type: "tool_search", execution: "client", ...search };
  });
}

/**
 * Not strict: strict mode requires every argument and rejects a part of JSON Schema, so it would change the tools'
 * descriptions. Arguments are validated when a call is run.
 */
function toTool(tool: ToolDefinition): FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description.toWellFormed(),
    parameters: { ...toWellFormedRecord(tool.inputSchema), type: "object" },
    strict: false,
    ...(tool.isDeferred && { defer_loading: true }),
  };
}

/** OpenAI's own search of the web. */
function toSearchTool({ webSearch }: RequestOptions): WebSearchTool[] {
  return webSearch ? [{ type: "web_search" }] : [];
}

/** A placeholder for a message to answer, if there is none. */
const CONTINUE: ResponseInputItem = { role: "user", content: "Continue." };

const MAX_ID_CHARS = 64;

/** The parts of a history that cannot be sent. */
interface InputOptions {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  /** The tools of the request that are deferred. */
  deferredTools?: readonly ToolDefinition[] | undefined;
  /** A model that does not reason rejects the reasoning of one that does. */
  takesReasoning: boolean;
  /** What the API has rejected: reasoning, by its encrypted content, and the ids of other items. */
  refused: ReadonlySet<string>;
}

/**
 * The conversation in the form that the API accepts, for any history: every call has one output, no id occurs twice,
 * and reasoning is sent back only together with what it led to.
 */
export function toOpenAIInput(messages: readonly Message[], options: InputOptions): ResponseInputItem[] {
  const history = limitImages(toSendableHistory(messages));
  const { hasTools, deferredTools = [] } = options;
  const sendable = hasTools ? history : withToolsAsText(history);
  const deferred = new Map(deferredTools.map((tool) => [tool.name, tool]));
  const calls = sendable.flatMap((message) => (message.role === "assistant" ? toolCallsOf(message) : []));
  const searches = new Set(deferred.size > 0 ? calls.filter(isToolSearch).map(({ id }) => id) : []);
  const toWireId = createWireIds(MAX_ID_CHARS);
  const context = {
    toWireId,
    takesReasoning: options.takesReasoning,
    refused: options.refused,
    unanswered: findUnansweredItems(sendable),
    hasDeferred: deferred.size > 0,
    // A rejected id is treated as one that was already used.
    usedIds: new Set(options.refused),
  };
  const items = sendable.flatMap((message): ResponseInputItem[] => {
    if (message.role === "assistant") return toTurnItems(message, context);
    if (message.role === "user") return [toUserItem(message)];
    return searches.has(message.toolCallId)
      ? [toFoundItem(message, deferred, toWireId)]
      : [toOutputItem(message, toWireId)];
  });
  return wantsAnswer(items.at(-1)) ? items : [...items, CONTINUE];
}

function wantsAnswer(last: ResponseInputItem | undefined): boolean {
  if (!last) return false;
  if (last.type === "function_call_output" || last.type === "tool_search_output") return true;
  return "role" in last && last.role === "user";
}

function toUserItem({ content }: UserMessage): ResponseInputItem {
  if (typeof content === "string") return { role: "user", content: content.toWellFormed() };
  const parts = content.flatMap((block): ResponseInputContent[] => {
    if (block.type === "text") return [toTextPart(block.text)];
    return block.type === "image" ? [toImagePart(block)] : [];
  });
  return { role: "user", content: parts };
}

/** What a search for deferred tools has found: from here on the model may call these. */
function toFoundItem(
  { toolCallId, foundTools = [] }: ToolResultMessage,
  deferred: ReadonlyMap<string, ToolDefinition>,
  toWireId: (id: string) => string,
): ResponseInputItem {
  const found = foundTools.flatMap((name) => deferred.get(name) ?? []);
  return {
    type: "tool_search_output",
    call_id: toWireId(toolCallId),
    execution: "client",
    status: "completed",
    tools: found.map(toTool),
  };
}

function toOutputItem(message: ToolResultMessage, toWireId: (id: string) => string): ResponseInputItem {
  const text = isBlank(message.output) ? [] : [toTextPart(message.output)];
  const images = (message.images ?? []).map((image): ResponseFunctionCallOutputItem => toImagePart(image));
  return {
    type: "function_call_output",
    call_id: toWireId(message.toolCallId),
    output: images.length > 0 ? [...text, ...images] : message.output.toWellFormed(),
  };
}

function toTextPart(text: string) {
  return { type: "input_text" as const, text: text.toWellFormed() };
}

function toImagePart(image: ImageBlock) {
  const url = toImageUrl(image);
  if (url === undefined) return toTextPart(toUnsentImageNote(image));
  return { type: "input_image" as const, detail: "auto" as const, image_url: url };
}

/** The inputs for converting one message, and the ids that later messages may not repeat. */
interface TurnContext extends PieceContext {
  /** The ids of earlier items: the API rejects an id that occurs twice. */
  usedIds: Set<string>;
}

/** Reasoning and what it led to, up to the next reasoning. */
interface Stretch {
  reasoning: Piece[];
  results: Piece[];
}

/** An assistant message as items of the API, in their original order. */
function toTurnItems(message: AssistantMessage, context: TurnContext): ResponseInputItem[] {
  return toStretches(toPieces(message.content, context)).flatMap((stretch) =>
    toStretchItems(stretch, context.usedIds),
  );
}

function toStretches(pieces: readonly Piece[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const piece of pieces) {
    const last = stretches.at(-1);
    const goesOn = last !== undefined && (!piece.isReasoning || last.results.length === 0);
    const stretch = goesOn ? last : { reasoning: [], results: [] };
    if (!goesOn) stretches.push(stretch);
    stretch[piece.isReasoning ? "reasoning" : "results"].push(piece);
  }
  return stretches;
}

/**
 * The API rejects reasoning without the item it led to, and such an item under its id without its reasoning. Either
 * both are sent back under their ids, or neither is.
 */
function toStretchItems({ reasoning, results }: Stretch, usedIds: Set<string>): ResponseInputItem[] {
  const [first] = results;
  const goesWhole =
    reasoning.length === 0 || (first !== undefined && canGoWhole([...reasoning, first], usedIds));
  if (!goesWhole) return results.flatMap(({ plain }) => plain);
  return [...reasoning, ...results].flatMap((piece) => {
    if (!piece.whole || !isFree(piece, usedIds)) return piece.plain;
    if (piece.id !== "") usedIds.add(piece.id);
    return [piece.whole];
  });
}

/** True if every piece has its own id and none is used twice. */
function canGoWhole(pieces: readonly Piece[], usedIds: ReadonlySet<string>): boolean {
  const ids = pieces.map(({ id }) => id).filter((id) => id !== "");
  const isUnique = new Set(ids).size === ids.length;
  return isUnique && pieces.at(-1)?.id !== "" && pieces.every((piece) => isFree(piece, usedIds));
}

function isFree({ whole, id }: Piece, usedIds: ReadonlySet<string>): boolean {
  return whole !== undefined && (id === "" || !usedIds.has(id));
}

/**
 * The opaque items that cannot be sent back: incomplete ones, calls that expect an output that none of our tools
 * produces, and outputs without their call. Items that the provider ran itself are kept.
 */
function findUnansweredItems(messages: readonly Message[]): ReadonlySet<OpaqueBlock> {
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const items = blocks
    .filter((block) => block.type === "opaque")
    .filter(({ provider }) => provider === OPENAI);
  const calls = new Set(items.map(calledIdOf));
  const outputs = new Set(items.map(answeredIdOf));
  const unanswered = items.filter((item) => {
    const { status } = asRecord(item.raw);
    if (status === "in_progress" || status === "incomplete") return true;
    const [called, answered] = [calledIdOf(item), answeredIdOf(item)];
    return (called !== undefined && !outputs.has(called)) || (answered !== undefined && !calls.has(answered));
  });
  return new Set(unanswered);
}

/** The id that the item's output must have, for instance for `local_shell_call` and `mcp_approval_request`. */
function calledIdOf({ raw }: OpaqueBlock): string | undefined {
  const { type, call_id, id } = asRecord(raw);
  if (type === "mcp_approval_request") return asString(id);
  return asString(type).endsWith("_call") ? asString(call_id) || undefined : undefined;
}

function answeredIdOf({ raw }: OpaqueBlock): string | undefined {
  const { type, call_id, approval_request_id } = asRecord(raw);
  if (type === "mcp_approval_response") return asString(approval_request_id);
  return asString(type).endsWith("_output") ? asString(call_id) : undefined;
}

type ReasoningFields = Pick<ResponseCreateParamsStreaming, "reasoning" | "include">;

/** From the lowest to the highest. */
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** Without `effort` the model chooses for itself; `hasSummary` requests a summary of its reasoning. */
interface ReasoningOptions {
  effort: Effort | undefined;
  hasSummary: boolean;
}

/**
 * The fields of a request that enable reasoning; empty for a model that does not reason, which would reject them. The
 * reasoning is returned encrypted, since nothing of it is stored at OpenAI.
 */
function toReasoningFields(model: Model, { effort, hasSummary }: ReasoningOptions): ReasoningFields {
  const support = model.thinking ?? guessSupport(model.id);
  if (support === "none") return {};
  const include: ReasoningFields["include"] = ["reasoning.encrypted_content"];
  if (effort === "off" && support === "adaptive") return { reasoning: { effort: "none" }, include };
  const asked = effort === "off" ? "low" : effort;
  return {
    reasoning: {
      ...(asked && { effort: atMost(asked, highestEffort(model.id)) }),
      ...(hasSummary && { summary: "auto" as const }),
    },
    include,
  };
}

/**
 * The abilities of a model that is not listed. From the model pages of developers.openai.com: the o-series, GPT-5,
 * its codex models, GPT-6 Astra and everything after GPT-6.1 Sol reject the effort `none`; chat models, and models
 * before GPT-5 except the o-series, do not reason.
 */
function guessSupport(id: string): ThinkingSupport {
  if (/-chat\b/.test(id)) return "none";
  if (/^gpt-(5\.\d+|6-(sol|luna)|6\.1-terra)(-(mini|nano|sol|terra|luna))?(-\d|$)/.test(id))
    return "adaptive";
  return /^(o\d|gpt-([5-9]|\d\d)|gpt-oss)/.test(id) ? "always" : "none";
}

/**
 * The highest effort that a model accepts: higher ones are rejected, not lowered. `minimal` is left out, since it
 * disables parallel calls.
 */
function highestEffort(id: string): (typeof EFFORTS)[number] {
  if (/^gpt-5\.1-codex-max|^gpt-5\.[2-5](?!\d)/.test(id)) return "xhigh";
  return /^gpt-(5\.[6-9]|5\.\d\d|[6-9]|\d\d)/.test(id) ? "max" : "high";
}

function atMost(effort: Exclude<Effort, "off">, highest: (typeof EFFORTS)[number]): (typeof EFFORTS)[number] {
  return EFFORTS[Math.min(EFFORTS.indexOf(effort), EFFORTS.indexOf(highest))] ?? highest;
}
