import type { ContentBlock, ToolCallBlock } from "../types.ts";
import { ANTHROPIC } from "./anthropic-blocks.ts";
import { toCallInput } from "./call-input.ts";
import { asRecord, asString, parseJson } from "./json-value.ts";

/** A content block while it arrives. */
export interface BlockDraft {
  /** What the API calls it by; a block without one is found by that. */
  index: unknown;
  /** The block as it began, grown by its deltas. */
  raw: Record<string, unknown>;
  /** The text of its `input_json_delta`s. */
  json: string;
  isStopped: boolean;
}

/** Both arguments as the API sent them; a block that is no object counts as empty. */
export function createBlockDraft(index: unknown, contentBlock: unknown): BlockDraft {
  return { index, raw: { ...asRecord(contentBlock) }, json: "", isStopped: false };
}

/** What deltas add to, by the type of the block. Blocks that we do not model grow whatever fields a delta names. */
const GROWING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: [],
};

/** Adds a delta to its block. What does not belong to the block is passed over: sent back, it would be refused. */
export function growBlock(draft: BlockDraft, delta: Record<string, unknown>): void {
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
 * The block as our own; undefined when nothing is in it. A tool call that was cut off, or whose arguments are no JSON
 * object, keeps them as `invalidInput`.
 */
export function toContentBlock(draft: BlockDraft, isCut: boolean): ContentBlock | undefined {
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

/** `isCut` tells that the arguments may have broken off. Fields we do not know are kept to be sent back. */
export function toToolCall({ raw, json }: BlockDraft, isCut: boolean): ToolCallBlock {
  const { type: _, id, name, input, caller, ...extra } = raw;
  // A direct call is the default, so it need not be kept to be sent back.
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

function toThinkingBlock({ raw, isStopped }: BlockDraft): ContentBlock | undefined {
  const thinking = asString(raw.thinking);
  // A signature counts only when it has come whole; without one the text is for the reader and is not sent back.
  const signature = isStopped ? asString(raw.signature) : "";
  if (thinking === "" && signature === "") return undefined;
  return { type: "thinking", thinking, ...(signature !== "" && { signature }) };
}

function toOpaqueRaw({ raw, json }: BlockDraft): Record<string, unknown> {
  const input = json.trim() === "" ? undefined : parseJson(json);
  return input === undefined ? raw : { ...raw, input };
}
