import type {
  Base64ImageSource,
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
  ToolUnion,
  WebSearchTool20250305,
} from "@anthropic-ai/sdk/resources/messages/messages";
import { isBlank, toSendableHistory } from "../../history.ts";
import {
  type AssistantMessage,
  assertNever,
  type ContentBlock,
  type ImageBlock,
  type Message,
  type OpaqueBlock,
  type ThinkingBlock,
  type ToolCallBlock,
  type ToolResultMessage,
  toolCallsOf,
} from "../../types.ts";
import { limitImages } from "../images.ts";
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

/** Without `maxTokens` the model's own limit applies; a request cannot raise it. */
interface RequestOptions extends Pick<StreamOptions, "maxTokens" | "effort" | "webSearch"> {
  /** Signatures and redacted data of thinking that the API has rejected: such blocks are left out. */
  rejectedThinking?: ReadonlySet<string>;
}

/**
 * The body of a request. Apart from `cache_control`, it repeats system, tools and messages of the previous request
 * verbatim: caches and the signatures of thinking depend on that.
 */
export function toAnthropicRequest(
  model: Model,
  context: StreamContext,
  options: RequestOptions = {},
): MessageCreateParamsStreaming {
  const { effort, rejectedThinking = new Set() } = options;
  const maxTokens = Math.max(1, Math.min(options.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens));
  const { tools } = context;
  const deferred = tools.filter(({ isDeferred }) => isDeferred).map(({ name }) => name);
  const messages = toAnthropicMessages(context.messages, {
    hasTools: tools.length > 0,
    rejectedThinking,
    deferredTools: new Set(deferred),
  });
  return {
    model: model.id,
    max_tokens: maxTokens,
    stream: true,
    ...(!isBlank(context.systemPrompt) && { system: toSystem(context.systemPrompt) }),
    ...(tools.length > 0 && { tools: toTools(tools, options) }),
    messages: markLastUserTurns(messages),
    ...toThinkingFields(model, messages, { effort, maxTokens }),
  };
}

/** The id of each thinking block in a request: its signature, or its data if it is redacted. */
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

/** A deferred tool is no part of the cached beginning, so none of them may end it. */
function toTools(tools: readonly ToolDefinition[], options: RequestOptions): ToolUnion[] {
  const last = tools.findLastIndex(({ isDeferred }) => !isDeferred);
  const own = tools.map(
    (tool, index): Tool => ({
      name: tool.name,
      description: tool.description.toWellFormed(),
      input_schema: { ...toWellFormedRecord(tool.inputSchema), type: "object" },
      ...(tool.isDeferred && { defer_loading: true }),
      ...(index === last && CACHE_MARKER),
    }),
  );
  return [...toSearchTool(tools, options), ...own];
}

// A question needs one to three; a model that searches in a circle is stopped.
const MAX_SEARCHES = 8;

/** The API's own search of the web, in the version that every model has. Names must be unique. */
function toSearchTool(
  tools: readonly ToolDefinition[],
  { webSearch }: RequestOptions,
): WebSearchTool20250305[] {
  if (!webSearch || tools.some(({ name }) => name === SEARCH)) return [];
  return [{ type: "web_search_20250305", name: SEARCH, max_uses: MAX_SEARCHES }];
}

const SEARCH = "web_search";

/** Ends a part of the request that the API caches. One request may have four of them. */
const CACHE_MARKER = { cache_control: { type: "ephemeral" } } as const;

const MARKED_TURNS = 2;

/**
 * Marks the ends of the last two user turns as cached: the newer one is written; the older one was written by the
 * previous request and is read. With system and tools, these are the four markers that a request may have.
 */
function markLastUserTurns(messages: readonly MessageParam[]): MessageParam[] {
  const marked = [...messages];
  let left = MARKED_TURNS;
  for (let index = marked.length - 1; index >= 0 && left > 0; index--) {
    const message = marked[index];
    if (message?.role !== "user" || typeof message.content === "string") continue;
    const content = markLastBlock(message.content);
    if (!content) continue;
    marked[index] = { ...message, content };
    left -= 1;
  }
  return marked;
}

function markLastBlock(blocks: readonly ContentBlockParam[]): ContentBlockParam[] | undefined {
  const position = blocks.findLastIndex((block) => markBlock(block) !== undefined);
  if (position < 0) return undefined;
  return blocks.map((block, index) => (index === position ? (markBlock(block) ?? block) : block));
}

/** The block with a marker, or undefined for a kind that may not carry one. */
function markBlock(block: ContentBlockParam): ContentBlockParam | undefined {
  switch (block.type) {
    case "text":
    case "image":
    case "tool_result":
      return { ...block, ...CACHE_MARKER };
    default:
      return undefined;
  }
}

type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;

const MIN_BUDGET_TOKENS = 1024;

/**
 * Thinking tokens for the models that require a number. Each step roughly doubles, up to the most that these models
 * were made for.
 */
const BUDGET_TOKENS: Readonly<Record<Exclude<Effort, "off">, number>> = {
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/**
 * Without `effort`, an adaptive model chooses for itself, and a model with a budget does not think. `maxTokens`
 * limits the whole answer; a budget takes at most half of it.
 */
interface ThinkingOptions {
  effort: Effort | undefined;
  maxTokens: number;
}

/** The fields of a request that enable thinking; empty if the model cannot think or thinking was not requested. */
function toThinkingFields(
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

// Several models omit the text of their thinking unless a summary is requested.
function adaptive(effort: Exclude<Effort, "off"> | undefined): ThinkingFields {
  return {
    thinking: { type: "adaptive", display: "summarized" },
    ...(effort && { output_config: { effort } }),
  };
}

/**
 * Sonnet 5.5 rejects `disabled` and has another value for it (platform.claude.com, "What's new in Claude Sonnet
 * 5.5").
 */
function thinkingOff(model: Model): ThinkingFields {
  return { thinking: { type: /sonnet-5-5/.test(model.id) ? "between_tools" : "disabled" } };
}

function budget(tokens: number): ThinkingFields {
  return tokens < MIN_BUDGET_TOKENS ? {} : { thinking: { type: "enabled", budget_tokens: tokens } };
}

/**
 * With a budget, a turn that continues after tool results must have begun with thinking. A turn that did not, for
 * instance after a change of model or effort, is finished without it.
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

/**
 * A placeholder for a required user message: before an assistant message that opens the conversation, and after one
 * that needs no answer.
 */
const CONTINUE = "Continue.";

/** The parts of a history that cannot be sent; the rest as in `BlockContext`. */
interface MessageOptions {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  rejectedThinking: ReadonlySet<string>;
  deferredTools: ReadonlySet<string>;
}

/**
 * The conversation in the form that the API accepts, for any history: it begins and ends with the user (or with a
 * turn that the provider paused), every call is followed directly by its result, and no content is empty.
 */
export function toAnthropicMessages(messages: readonly Message[], options: MessageOptions): MessageParam[] {
  const history = limitImages(toSendableHistory(messages));
  const { rejectedThinking, deferredTools } = options;
  const context = { toWireId: createWireIds(), rejectedThinking, deferredTools };
  const sendable = options.hasTools ? history : withToolsAsText(history);
  const unpaired = findUnpairedServerBlocks(sendable);
  const turns: MessageParam[] = [];
  let goesOn = false;
  for (const message of sendable) {
    if (message.role === "assistant") {
      const content = toTurnContent(message, unpaired, context);
      if (content.length === 0) continue;
      if (!endsWithUser(turns) && !goesOn) addUserBlocks(turns, [toTextParam(CONTINUE)]);
      turns.push({ role: "assistant", content });
      goesOn = isPaused(message) && !leavesOutServerCall(message, unpaired);
    } else {
      addUserBlocks(turns, toUserBlocks(message, context));
    }
  }
  if (!endsWithUser(turns) && !goesOn) addUserBlocks(turns, [toTextParam(CONTINUE)]);
  return turns;
}

function endsWithUser(turns: readonly MessageParam[]): boolean {
  return turns.at(-1)?.role === "user";
}

/** Merges consecutive user messages into one turn: all results of a message must be in the turn that follows it. */
function addUserBlocks(turns: MessageParam[], blocks: ContentBlockParam[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === "user" && typeof last.content !== "string") last.content.push(...blocks);
  else turns.push({ role: "user", content: blocks });
}

function toUserBlocks(
  message: Exclude<Message, AssistantMessage>,
  context: BlockContext,
): ContentBlockParam[] {
  if (message.role === "tool_result") return [toToolResultParam(message, context)];
  if (typeof message.content === "string") return [toTextParam(message.content)];
  return toBlockParams(message.content, context);
}

function toTurnContent(
  message: AssistantMessage,
  unpaired: ReadonlySet<unknown>,
  context: BlockContext,
): ContentBlockParam[] {
  const blocks = toBlockParams(
    message.content.filter((block) => !unpaired.has(block)),
    context,
  );
  // The API rejects a turn that ends in thinking, as an interrupted turn does.
  const content = blocks.slice(0, blocks.findLastIndex(({ type }) => !/thinking$/.test(type)) + 1);
  return isPaused(message) ? withoutTrailingSpace(content) : content;
}

/**
 * The API rejects a request that ends with an assistant message whose text ends in white space. A paused turn is
 * trimmed in every request, also once something follows it, so that the provider's cache still matches.
 */
function withoutTrailingSpace(content: ContentBlockParam[]): ContentBlockParam[] {
  const last = content.at(-1);
  return last?.type === "text" ? [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }] : content;
}

function toBlockParams(blocks: readonly ContentBlock[], context: BlockContext): ContentBlockParam[] {
  return blocks.map((block) => toBlockParam(block, context)).filter((block) => block !== undefined);
}

/** The `provider` of replay data and opaque blocks that came from this API and are sent back to it. */
export const ANTHROPIC = "anthropic";

const MAX_NAME_CHARS = 128;

/** The shared inputs for the blocks of one request. */
interface BlockContext {
  /** Converts an id to a unique one of letters, digits, `_` and `-`. */
  toWireId(toolCallId: string): string;
  /** Signatures and redacted data that the API has rejected. */
  rejectedThinking: ReadonlySet<string>;
  /** The names of the tools of this request that are deferred: the API rejects a reference to any other. */
  deferredTools: ReadonlySet<string>;
}

/** Lone surrogates are replaced: see `toWellFormedJson`. */
function toTextParam(text: string): TextBlockParam {
  return { type: "text", text: text.toWellFormed() };
}

/** One block of a user or assistant message; undefined for a block that only another provider understands. */
function toBlockParam(block: ContentBlock, context: BlockContext): ContentBlockParam | undefined {
  switch (block.type) {
    case "text":
      return { ...replayFields(block), ...toTextParam(block.text) };
    case "image":
      return toImageParam(block);
    case "thinking":
      return toThinkingParam(block, context.rejectedThinking);
    case "tool_call":
      return toToolUseParam(block, context);
    case "opaque":
      return block.provider === ANTHROPIC ? toOpaqueParam(block.raw) : undefined;
    default:
      return assertNever(block);
  }
}

/**
 * The text precedes the images; blank text beside images is left out, since providers reject it. A search for deferred
 * tools refers to what it has found, and the API inserts the definitions, which its text repeats for other providers.
 */
function toToolResultParam(message: ToolResultMessage, context: BlockContext): ToolResultBlockParam {
  const found = (message.foundTools ?? []).filter((name) => context.deferredTools.has(name));
  if (found.length > 0) {
    return {
      type: "tool_result",
      tool_use_id: context.toWireId(message.toolCallId),
      content: found.map((name) => ({ type: "tool_reference", tool_name: name })),
    };
  }
  const images = (message.images ?? []).map(toImageParam);
  const text = isBlank(message.output) ? [] : [toTextParam(message.output)];
  return {
    type: "tool_result",
    tool_use_id: context.toWireId(message.toolCallId),
    content: images.length > 0 ? [...text, ...images] : message.output.toWellFormed(),
    ...(message.isError && { is_error: true }),
  };
}

/** Fields of the original block that our types do not have, such as citations or the caller of a tool. */
function replayFields(block: { replay?: { provider: string; data: unknown } }): Record<string, unknown> {
  return block.replay?.provider === ANTHROPIC ? toWellFormedRecord(asRecord(block.replay.data)) : {};
}

function toImageParam({ source }: ImageBlock): ImageBlockParam | TextBlockParam {
  const { mediaType, data } = source;
  if (!isImageMediaType(mediaType)) return toTextParam(`[An image of type ${mediaType} cannot be sent.]`);
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

function isImageMediaType(mediaType: string): mediaType is Base64ImageSource["media_type"] {
  return ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(mediaType);
}

/** Thinking is sent back exactly as it came or not at all: the signature covers every character. */
function toThinkingParam(block: ThinkingBlock, rejected: ReadonlySet<string>): ContentBlockParam | undefined {
  const { thinking, signature, replay } = block;
  if (replay) {
    if (replay.provider !== ANTHROPIC || typeof replay.data !== "string") return undefined;
    return rejected.has(replay.data) ? undefined : { type: "redacted_thinking", data: replay.data };
  }
  if (!signature || rejected.has(signature) || !thinking.isWellFormed()) return undefined;
  return { type: "thinking", thinking, signature };
}

function toToolUseParam(block: ToolCallBlock, context: BlockContext): ContentBlockParam {
  return {
    ...replayFields(block),
    type: "tool_use",
    id: context.toWireId(block.id),
    name: toWireName(block.name, MAX_NAME_CHARS),
    input: toWellFormedRecord(block.input),
  };
}

function toOpaqueParam(raw: unknown): ContentBlockParam | undefined {
  const block = toWellFormedJson(raw);
  return isOpaqueBlockParam(block) ? block : undefined;
}

/** The API wrote the block itself, so it only has to have a type. */
function isOpaqueBlockParam(value: unknown): value is ContentBlockParam {
  return isRecord(value) && typeof value.type === "string";
}

/**
 * The opaque blocks that cannot be sent back: a call of a provider's own tool without its result, as after a cut, or
 * such a result without its call. A call that the provider has not answered yet, because it paused or waits for our
 * results, is kept.
 */
function findUnpairedServerBlocks(messages: readonly Message[]): ReadonlySet<OpaqueBlock> {
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? opaqueBlocksOf(message) : []));
  const callIds = new Set(blocks.map(serverCallId));
  const answeredIds = new Set(blocks.map(serverResultId));
  const openBlocks = new Set(openTurnBlocks(messages));
  const unpaired = blocks.filter((block) => {
    const callId = serverCallId(block);
    if (callId) return !answeredIds.has(callId) && !openBlocks.has(block);
    const resultId = serverResultId(block);
    return resultId !== undefined && !callIds.has(resultId);
  });
  return new Set(unpaired);
}

/** True if the provider paused in the middle of its own tools and expects the same content again. */
function isPaused({ stopReason, rawStopReason }: AssistantMessage): boolean {
  return stopReason === "tool_use" && rawStopReason === "pause_turn";
}

function isPending(reply: AssistantMessage): boolean {
  return isPaused(reply) || (reply.stopReason === "tool_use" && toolCallsOf(reply).length > 0);
}

/** True if the message contains a call that cannot be sent back, so that the provider has nothing to continue. */
function leavesOutServerCall(message: AssistantMessage, unpaired: ReadonlySet<OpaqueBlock>): boolean {
  return opaqueBlocksOf(message).some((block) => unpaired.has(block) && serverCallId(block) !== undefined);
}

/** The opaque blocks of the current turn, in which the provider may still answer its own calls. */
function openTurnBlocks(messages: readonly Message[]): OpaqueBlock[] {
  const turn = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1);
  const replies = turn.filter((message) => message.role === "assistant");
  const lastEnd = replies.findLastIndex((reply) => !isPending(reply));
  return replies.slice(lastEnd + 1).flatMap(opaqueBlocksOf);
}

function opaqueBlocksOf(message: AssistantMessage): OpaqueBlock[] {
  return message.content
    .filter((block) => block.type === "opaque")
    .filter(({ provider }) => provider === ANTHROPIC);
}

function serverCallId({ raw }: OpaqueBlock): string | undefined {
  const { type, id } = asRecord(raw);
  return asString(type).endsWith("_tool_use") ? asString(id) : undefined;
}

function serverResultId({ raw }: OpaqueBlock): string | undefined {
  const { type, tool_use_id } = asRecord(raw);
  return asString(type).endsWith("_tool_result") ? asString(tool_use_id) : undefined;
}
