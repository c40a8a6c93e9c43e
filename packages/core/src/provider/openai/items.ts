import type {
  AssistantMessage,
  ContentBlock,
  StopReason,
  TextBlock,
  ToolCallBlock,
  Usage,
} from "../../types.ts";
import {
  asRecord,
  asString,
  countOf,
  isRecord,
  type MessageFrame,
  toAssistantMessage,
  toCallInput,
} from "../wire-format.ts";

/** Decides whether an item can be sent back under its id. */
interface ItemFrame {
  /** True if the item was or may have been cut off: it is never sent back under its id. */
  isCut: boolean;
  /** True if reasoning came before it: the API accepts both under their ids, or neither. */
  followsReasoning: boolean;
}

/** The blocks of an output item; none if it is empty. */
function toContentBlocks(draft: PartialItem, frame: ItemFrame): ContentBlock[] {
  switch (draft.raw.type) {
    case "message":
      return toTextBlocks(draft, frame);
    case "reasoning":
      return toThinkingBlocks(draft, frame);
    case "function_call":
      return [toToolCall(draft, frame)];
    default:
      return draft.isDone ? [{ type: "opaque", provider: OPENAI, raw: draft.raw }] : [];
  }
}

/**
 * A search for deferred tools that we carry out is a call of the tool that searches: `execution` tells the two apart
 * when it is sent back.
 */
export function toCallItem(item: Record<string, unknown>): Record<string, unknown> {
  if (item.type !== "tool_search_call" || item.execution !== "client") return item;
  const { arguments: given } = item;
  const text = given == null ? "" : typeof given === "string" ? given : JSON.stringify(given);
  return { ...item, type: "function_call", name: TOOL_SEARCH, arguments: text };
}

/** The tool of ours that finds deferred tools. */
export const TOOL_SEARCH = "tool_search";

/** The item is sent back under its id only if it is complete and follows reasoning; see `ItemFrame`. */
export function toToolCall(draft: PartialItem, { isCut, followsReasoning }: ItemFrame): ToolCallBlock {
  const { type: _, call_id, name, arguments: __, id, status, caller, ...extra } = draft.raw;
  // A direct call is the default and need not be sent back.
  const isDirect = caller == null || asRecord(caller).type === "direct";
  const known = { ...extra, ...(!isDirect && { caller }), ...(followsReasoning && !isCut && { id, status }) };
  const fields = Object.fromEntries(Object.entries(known).filter(([, value]) => value != null));
  return {
    type: "tool_call",
    id: draft.callId,
    name: asString(name),
    ...toCallInput(draft.json, isCut),
    ...(Object.keys(fields).length > 0 && { replay: { provider: OPENAI, data: fields } }),
  };
}

/** One block for each part. For a plain text message, the text is all that has to be sent back. */
function toTextBlocks(draft: PartialItem, { isCut, followsReasoning }: ItemFrame): ContentBlock[] {
  const { type: _, role: __, content, ...message } = draft.raw;
  const parts = recordsOf(content);
  const texts = new Map(draft.texts.map((text) => [text.index, text]));
  const isPlain = !followsReasoning && message.phase == null && parts.every(isPlainPart);
  if (isCut || isPlain) return [...texts.values()].sort(byIndex).flatMap(toPlainBlock);
  return parts.flatMap((part, index): ContentBlock[] => {
    const text = texts.get(index);
    if (text)
      return toPlainBlock(text).map((block) => withReplay(block, { message, part: withoutText(part) }));
    return isTextPart(part) ? [] : [{ type: "opaque", provider: OPENAI, raw: { message, part } }];
  });
}

function toPlainBlock({ text }: TextDraft): TextBlock[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function withReplay(block: TextBlock, data: PartReplay): TextBlock {
  return { ...block, replay: { provider: OPENAI, data } };
}

function withoutText({ text: _, refusal: __, ...part }: Record<string, unknown>): Record<string, unknown> {
  return part;
}

function isTextPart({ type }: Record<string, unknown>): boolean {
  return type === "output_text" || type === "refusal";
}

function isPlainPart(part: Record<string, unknown>): boolean {
  const extras = Object.entries(withoutText(part)).filter(([key]) => key !== "type");
  return isTextPart(part) && extras.every(([, value]) => isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

function byIndex(left: TextDraft, right: TextDraft): number {
  return left.index - right.index;
}

/** The API needs the whole item; its text is for the user. */
function toThinkingBlocks({ raw, texts, isDone }: PartialItem, { isCut }: ItemFrame): ContentBlock[] {
  const thinking = thinkingText(texts);
  if (isDone && !isCut) return [{ type: "thinking", thinking, replay: { provider: OPENAI, data: raw } }];
  return thinking === "" ? [] : [{ type: "thinking", thinking }];
}

/** The texts of a reasoning item as one text, separated by empty lines. */
export function thinkingText(texts: readonly TextDraft[]): string {
  return texts.map(({ text }) => text).join("\n\n");
}

/** The answer as a message. An unfinished answer was aborted: the message holds what had arrived. */
export function toOpenAIMessage(answer: OpenAIAnswer, frame: MessageFrame): AssistantMessage {
  const content = toContent(answer);
  const stopReason = answer.isFinished ? toStopReason(answer, content) : "aborted";
  const rawStopReason = stopReason === "error" ? "refusal" : answer.rawStopReason;
  return toAssistantMessage({ content, usage: answer.usage, stopReason, rawStopReason }, frame);
}

/**
 * OpenAI counts tokens read from or written to the cache as input, and reasoning as output. Searches are counted by
 * their items.
 */
export function toUsage(raw: Record<string, unknown>, drafts: readonly PartialItem[]): Usage {
  const webSearches = drafts.filter(isSearch).length;
  const details = asRecord(raw.input_tokens_details);
  const cacheReadTokens = countOf(details.cached_tokens);
  const cacheWriteTokens = countOf(details.cache_write_tokens);
  return {
    inputTokens: Math.max(0, countOf(raw.input_tokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: countOf(raw.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...(webSearches > 0 && { webSearches }),
  };
}

/** Pages that the model opens from the results are free. */
function isSearch({ raw: { type, action } }: PartialItem): boolean {
  return type === "web_search_call" && (asRecord(action).type ?? "search") === "search";
}

function toContent({ drafts, isFinished, isIncomplete }: OpenAIAnswer): ContentBlock[] {
  const inOrder = drafts.toSorted((left, right) => countOf(left.outputIndex) - countOf(right.outputIndex));
  let followsReasoning = false;
  return inOrder.flatMap((draft) => {
    const { type, status } = draft.raw;
    const isReadableHalf = type === "message" || type === "reasoning";
    if (!isFinished && !draft.isDone && !isReadableHalf) return [];
    const isWhole = draft.isDone && status !== "incomplete" && status !== "in_progress";
    const isCut = !isWhole || (isIncomplete && draft === inOrder.at(-1));
    const blocks = toContentBlocks(draft, { isCut, followsReasoning });
    followsReasoning ||= type === "reasoning";
    return blocks;
  });
}

function toStopReason({ drafts, isIncomplete }: OpenAIAnswer, content: readonly ContentBlock[]): StopReason {
  // Cut by the token limit or by a content filter: a retry would not return the rest.
  if (isIncomplete) return "max_tokens";
  if (drafts.some(({ texts }) => texts.some(({ kind }) => kind === "refusal"))) return "error";
  return content.some((block) => block.type === "tool_call") ? "tool_use" : "end_turn";
}

/** The `provider` of replay data and opaque blocks that came from this API and are sent back to it. */
export const OPENAI = "openai";

/**
 * What is sent back with a part of a message besides its text: the fields of its message, such as `id` and `phase`,
 * and its own, such as `annotations`. Parts with the same `message.id` form one message.
 */
export interface PartReplay {
  message: Record<string, unknown>;
  part: Record<string, unknown>;
}

/** The kinds of text that arrive in pieces: of a message, of its refusal, of a summary, of open reasoning. */
export type TextKind = "output_text" | "refusal" | "summary_text" | "reasoning_text";

/** One text of an output item while it arrives. */
export interface TextDraft {
  kind: TextKind;
  /** Its place among those of its kind, or in the content of its message. */
  index: number;
  text: string;
  isEnded: boolean;
}

/** An output item while it arrives. */
export interface PartialItem {
  /** The API's index or id of the item, by which its events find it. */
  outputIndex: unknown;
  itemId: unknown;
  /** The item as it was added; the complete item once it is done. */
  raw: Record<string, unknown>;
  texts: TextDraft[];
  /** The arguments of a function call. */
  json: string;
  /** The id of a function call. It stays the announced id, which has already been shown. */
  callId: string;
  /** True if the item itself has arrived, and not only pieces of it. */
  isAnnounced: boolean;
  isDone: boolean;
}

/** The part of an answer that has arrived. */
export interface OpenAIAnswer {
  drafts: PartialItem[];
  usage: Usage;
  rawStopReason: string | undefined;
  isStarted: boolean;
  /** True after the last event. An answer that ends before it was cut. */
  isFinished: boolean;
  isIncomplete: boolean;
  /** The error that the API reports, if any; the answer is discarded then. */
  failure: Record<string, unknown> | undefined;
}

/** The objects in a list; empty if the value is not a list. */
export function recordsOf(list: unknown): Array<Record<string, unknown>> {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
