import {
  type AssistantMessage,
  type ContentBlock,
  EMPTY_USAGE,
  type StopReason,
  type ToolCallBlock,
  type Usage,
} from "../../types.ts";
import type { ProviderEvent } from "../types.ts";
import {
  asRecord,
  asString,
  countOf,
  type MessageFrame,
  parseJson,
  toAssistantMessage,
  toCallInput,
} from "../wire-format.ts";
import { ANTHROPIC } from "./request.ts";

/** The part of an answer that has arrived. */
interface AnthropicAnswer {
  drafts: PartialBlock[];
  usage: Usage;
  rawStopReason: string | undefined;
  isStarted: boolean;
  /** True after `message_stop`. An answer that ends before it was cut. */
  isFinished: boolean;
}

/** Creates the state of one answer, which `applyAnthropicEvent` updates with each event. */
export function createAnthropicAnswer(): AnthropicAnswer {
  return {
    drafts: [],
    usage: EMPTY_USAGE,
    rawStopReason: undefined,
    isStarted: false,
    isFinished: false,
  };
}

/**
 * Applies one event of the API to the answer and returns the resulting provider events. Usage events are cumulative.
 * Unknown events and fields are skipped; the events of several blocks may alternate.
 */
export function applyAnthropicEvent(answer: AnthropicAnswer, event: unknown): ProviderEvent[] {
  const fields = asRecord(event);
  switch (fields.type) {
    case "message_start":
      return startMessage(answer, asRecord(fields.message));
    case "content_block_start":
      return startBlock(answer, fields.index, fields.content_block);
    case "content_block_delta":
      return applyDelta(findOpenBlock(answer, fields.index), asRecord(fields.delta));
    case "content_block_stop":
      return stopBlock(findOpenBlock(answer, fields.index));
    case "message_delta":
      return applyMessageDelta(answer, fields);
    case "message_stop":
      answer.isFinished = true;
      return answer.drafts.filter((draft) => !draft.isStopped).flatMap(endEvents);
    default:
      return [];
  }
}

/**
 * The answer as a message. An unfinished answer was aborted: the message holds what had arrived, without incomplete
 * calls, signatures and opaque blocks.
 */
export function toAnthropicMessage(answer: AnthropicAnswer, frame: MessageFrame): AssistantMessage {
  const content = answer.drafts
    .map((draft) => toFinalBlock(answer, draft))
    .filter((block) => block !== undefined);
  const { rawStopReason } = answer;
  const stopReason = answer.isFinished ? toStopReason(rawStopReason, content) : "aborted";
  return toAssistantMessage({ content, usage: answer.usage, stopReason, rawStopReason }, frame);
}

/** A message may begin with complete blocks, for instance if the provider's own code called our tools. */
function startMessage(answer: AnthropicAnswer, message: Record<string, unknown>): ProviderEvent[] {
  if (answer.isStarted) return [];
  answer.isStarted = true;
  answer.rawStopReason = asString(message.stop_reason) || undefined;
  answer.usage = mergeUsage(answer.usage, asRecord(message.usage));
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : [];
  return [
    { type: "start" },
    { type: "usage", usage: answer.usage },
    ...blocks.flatMap((block, index) => [
      ...startBlock(answer, index, block),
      ...stopBlock(findOpenBlock(answer, index)),
    ]),
  ];
}

function startBlock(answer: AnthropicAnswer, index: unknown, contentBlock: unknown): ProviderEvent[] {
  const draft = createPartialBlock(index, contentBlock);
  answer.drafts.push(draft);
  const { type, id, name, text, thinking } = draft.raw;
  if (type === "tool_use") return [{ type: "tool_call_start", id: asString(id), name: asString(name) }];
  if (type === "text") return textDelta("text_delta", asString(text));
  return type === "thinking" ? textDelta("thinking_delta", asString(thinking)) : [];
}

function findOpenBlock(answer: AnthropicAnswer, index: unknown): PartialBlock | undefined {
  return answer.drafts.findLast((draft) => draft.index === index && !draft.isStopped);
}

function applyDelta(draft: PartialBlock | undefined, delta: Record<string, unknown>): ProviderEvent[] {
  if (!draft) return [];
  growBlock(draft, delta);
  const { type, id } = draft.raw;
  if (type === "text") return textDelta("text_delta", asString(delta.text));
  if (type === "thinking") return textDelta("thinking_delta", asString(delta.thinking));
  if (type !== "tool_use" || asString(delta.partial_json) === "") return [];
  return [{ type: "tool_call_delta", id: asString(id), delta: asString(delta.partial_json) }];
}

function textDelta(type: "text_delta" | "thinking_delta", delta: string): ProviderEvent[] {
  return delta === "" ? [] : [{ type, delta }];
}

function stopBlock(draft: PartialBlock | undefined): ProviderEvent[] {
  if (!draft) return [];
  draft.isStopped = true;
  return endEvents(draft);
}

function endEvents(draft: PartialBlock): ProviderEvent[] {
  if (draft.raw.type === "tool_use") {
    const { id, name, input } = toToolCall(draft, false);
    return [{ type: "tool_call_end", id, name, input }];
  }
  const block = toContentBlock(draft, false);
  if (block?.type === "text") return [{ type: "text_end", text: block.text }];
  if (block?.type !== "thinking" || block.replay) return [];
  const { thinking, signature } = block;
  return [{ type: "thinking_end", thinking, ...(signature !== undefined && { signature }) }];
}

function applyMessageDelta(answer: AnthropicAnswer, fields: Record<string, unknown>): ProviderEvent[] {
  const reason = asString(asRecord(fields.delta).stop_reason);
  if (reason !== "") answer.rawStopReason = reason;
  answer.usage = mergeUsage(answer.usage, asRecord(fields.usage));
  return [{ type: "usage", usage: answer.usage }];
}

/** The newest values replace earlier ones: they are cumulative. A missing field or null changes nothing. */
function mergeUsage(usage: Usage, raw: Record<string, unknown>): Usage {
  const figure = (value: unknown, before: number) => (typeof value === "number" ? countOf(value) : before);
  const webSearches = figure(asRecord(raw.server_tool_use).web_search_requests, usage.webSearches ?? 0);
  return {
    inputTokens: figure(raw.input_tokens, usage.inputTokens),
    outputTokens: figure(raw.output_tokens, usage.outputTokens),
    cacheReadTokens: figure(raw.cache_read_input_tokens, usage.cacheReadTokens),
    cacheWriteTokens: figure(raw.cache_creation_input_tokens, usage.cacheWriteTokens),
    ...(webSearches > 0 && { webSearches }),
  };
}

function toFinalBlock(answer: AnthropicAnswer, draft: PartialBlock): ContentBlock | undefined {
  const isReadableHalf = draft.raw.type === "text" || draft.raw.type === "thinking";
  if (!answer.isFinished && !draft.isStopped && !isReadableHalf) return undefined;
  const isLast = draft === answer.drafts.at(-1);
  const isCut = !draft.isStopped || (isLast && toStopReason(answer.rawStopReason, []) === "max_tokens");
  return toContentBlock(draft, isCut);
}

function toStopReason(raw: string | undefined, content: readonly ContentBlock[]): StopReason {
  switch (raw) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "max_tokens";
    case "refusal":
      return "error";
    case "pause_turn":
      return "tool_use";
    default:
      // `tool_use` without a call would be read as a pause, and calls without `tool_use` would never be answered.
      return content.some((block) => block.type === "tool_call") ? "tool_use" : "end_turn";
  }
}

/** A content block while it arrives. */
interface PartialBlock {
  /** The API's index of the block, by which its events find it. */
  index: unknown;
  /** The block as it began, extended by its deltas. */
  raw: Record<string, unknown>;
  /** The text of its `input_json_delta`s. */
  json: string;
  isStopped: boolean;
}

/** Both arguments as the API sent them; a block that is not an object is treated as empty. */
function createPartialBlock(index: unknown, contentBlock: unknown): PartialBlock {
  return { index, raw: { ...asRecord(contentBlock) }, json: "", isStopped: false };
}

/**
 * The fields that deltas extend, by the type of the block. In unknown blocks, any field named by a delta is extended.
 */
const GROWING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: [],
};

/** Adds a delta to its block. Fields that do not belong to the block are skipped: the API would reject them later. */
function growBlock(draft: PartialBlock, delta: Record<string, unknown>): void {
  const { raw } = draft;
  if (delta.type === "input_json_delta") {
    draft.json += asString(delta.partial_json);
  } else if (delta.type === "citations_delta") {
    raw.citations = [...(Array.isArray(raw.citations) ? raw.citations : []), delta.citation];
  } else {
    const { type: _, ...fields } = delta;
    const growing = GROWING_FIELDS[asString(raw.type)];
    for (const [key, value] of Object.entries(fields)) {
      if (growing === undefined || growing.includes(key)) raw[key] = joinValues(raw[key], value);
    }
  }
}

function joinValues(before: unknown, added: unknown): unknown {
  if (typeof before === "string" && typeof added === "string") return before + added;
  if (Array.isArray(before) && Array.isArray(added)) return [...before, ...added];
  return added;
}

/**
 * The block in our own types; undefined if it is empty. A tool call that was cut off, or whose arguments are not a
 * JSON object, keeps its text as `invalidInput`.
 */
function toContentBlock(draft: PartialBlock, isCut: boolean): ContentBlock | undefined {
  const { raw } = draft;
  switch (raw.type) {
    case "text":
      return toTextBlock(raw);
    case "thinking":
      return toThinkingBlock(draft);
    case "redacted_thinking":
      return { type: "thinking", thinking: "", replay: { provider: ANTHROPIC, data: asString(raw.data) } };
    case "tool_use":
      return toToolCall(draft, isCut);
    case undefined:
      return undefined;
    default:
      return { type: "opaque", provider: ANTHROPIC, raw: toOpaqueRaw(draft) };
  }
}

/** `isCut`: the arguments may be incomplete. Unknown fields are kept and sent back. */
function toToolCall({ raw, json }: PartialBlock, isCut: boolean): ToolCallBlock {
  const { type: _, id, name, input, caller, ...extra } = raw;
  // A direct call is the default and need not be sent back.
  const fields = asRecord(caller).type === "direct" || caller == null ? extra : { ...extra, caller };
  return {
    type: "tool_call",
    id: asString(id),
    name: asString(name),
    ...toCallInput(json, isCut, input),
    ...(Object.keys(fields).length > 0 && { replay: { provider: ANTHROPIC, data: fields } }),
  };
}

function toTextBlock({ text, citations }: Record<string, unknown>): ContentBlock | undefined {
  if (asString(text) === "") return undefined;
  const isCited = Array.isArray(citations) && citations.length > 0;
  return {
    type: "text",
    text: asString(text),
    ...(isCited && { replay: { provider: ANTHROPIC, data: { citations } } }),
  };
}

function toThinkingBlock({ raw, isStopped }: PartialBlock): ContentBlock | undefined {
  const thinking = asString(raw.thinking);
  // Only a complete signature is valid. Without one, the text is shown to the user and not sent back.
  const signature = isStopped ? asString(raw.signature) : "";
  if (thinking === "" && signature === "") return undefined;
  return { type: "thinking", thinking, ...(signature !== "" && { signature }) };
}

function toOpaqueRaw({ raw, json }: PartialBlock): Record<string, unknown> {
  const input = json.trim() === "" ? undefined : parseJson(json);
  return input === undefined ? raw : { ...raw, input };
}
