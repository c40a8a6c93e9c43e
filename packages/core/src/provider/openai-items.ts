import type { ContentBlock, TextBlock, ToolCallBlock } from "../types.ts";
import { toCallInput } from "./call-input.ts";
import { asRecord, asString } from "./json-value.ts";
import { type ItemDraft, recordsOf, type TextDraft } from "./openai-drafts.ts";
import { OPENAI, type PartReplay } from "./openai-replay.ts";

/** What decides whether an item is kept in the form in which it can be sent back under its id. */
export interface ItemFrame {
  /** True when the item was cut off or may have been: it is never sent back under its id. */
  isCut: boolean;
  /** True when reasoning came before it: the API wants both back under their ids, or neither. */
  followsReasoning: boolean;
}

/** An output item as our blocks; none when nothing is in it. */
export function toContentBlocks(draft: ItemDraft, frame: ItemFrame): ContentBlock[] {
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

/** Under its id the item goes back only if it is whole and follows reasoning; see `ItemFrame`. */
export function toToolCall(draft: ItemDraft, { isCut, followsReasoning }: ItemFrame): ToolCallBlock {
  const { type: _, call_id, name, arguments: __, id, status, caller, ...extra } = draft.raw;
  // A direct call is the default, so it need not be kept to be sent back.
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

/** One block for each part. A message that is plain text needs nothing but the text to be sent back. */
function toTextBlocks(draft: ItemDraft, { isCut, followsReasoning }: ItemFrame): ContentBlock[] {
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

/** The whole item is what counts for the API; its text is for the reader. */
function toThinkingBlocks({ raw, texts, isDone }: ItemDraft, { isCut }: ItemFrame): ContentBlock[] {
  const thinking = thinkingText(texts);
  if (isDone && !isCut) return [{ type: "thinking", thinking, replay: { provider: OPENAI, data: raw } }];
  return thinking === "" ? [] : [{ type: "thinking", thinking }];
}

/** The texts of a reasoning item as one thinking, with empty lines between them. */
export function thinkingText(texts: readonly TextDraft[]): string {
  return texts.map(({ text }) => text).join("\n\n");
}
