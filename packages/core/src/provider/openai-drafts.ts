import { asRecord, asString, isRecord } from "./json-value.ts";
import type { ProviderEvent } from "./types.ts";

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
export interface ItemDraft {
  /** What the API calls it by, as far as it does. */
  outputIndex: unknown;
  itemId: unknown;
  /** The item as it was added; once it is done, the whole of it. */
  raw: Record<string, unknown>;
  texts: TextDraft[];
  /** The arguments of a function call. */
  json: string;
  /** The id of a function call. It stays what it was when the call was announced, since it has been shown by then. */
  callId: string;
  /** True when the item itself has come, and not only pieces of it. */
  isAnnounced: boolean;
  isDone: boolean;
}

/** @param place where the item stands in the answer; `item` is what is known of it. */
export function createItemDraft(
  { outputIndex, itemId }: Pick<ItemDraft, "outputIndex" | "itemId">,
  place: number,
  item: unknown,
): ItemDraft {
  const raw = { ...asRecord(item) };
  const callId = `call_${place + 1}`;
  return { outputIndex, itemId, raw, texts: [], json: "", callId, isAnnounced: false, isDone: false };
}

/** Takes in the item as it begins. */
export function announceItem(draft: ItemDraft, item: unknown): ProviderEvent[] {
  if (draft.isAnnounced) return [];
  draft.isAnnounced = true;
  draft.raw = { ...draft.raw, ...asRecord(item) };
  const { type, call_id, id, name } = draft.raw;
  draft.callId = asString(call_id) || asString(id) || draft.callId;
  if (type !== "function_call") return [];
  const begun = draft.json === "" ? [] : [callDelta(draft, draft.json)];
  return [{ type: "tool_call_start", id: draft.callId, name: asString(name) }, ...begun];
}

function callDelta({ callId }: ItemDraft, delta: string): ProviderEvent {
  return { type: "tool_call_delta", id: callId, delta };
}

/** Adds a piece to a text; a new part of reasoning is set off from the one before it. */
export function growText(
  draft: ItemDraft,
  kind: TextKind,
  { index, delta }: { index: number; delta: string },
): ProviderEvent[] {
  if (delta === "") return [];
  const known = draft.texts.find((text) => text.kind === kind && text.index === index);
  const isThinking = kind === "summary_text" || kind === "reasoning_text";
  const gap = !known && isThinking && draft.texts.length > 0 ? "\n\n" : "";
  const text = known ?? { kind, index, text: "", isEnded: false };
  if (!known) draft.texts.push(text);
  text.text += delta;
  return [{ type: isThinking ? "thinking_delta" : "text_delta", delta: gap + delta }];
}

/** Takes in the whole of a text, of which all, some or none may have been streamed. */
export function endText(
  draft: ItemDraft,
  kind: TextKind,
  { index, whole }: { index: number; whole: string },
): ProviderEvent[] {
  const before = draft.texts.find((text) => text.kind === kind && text.index === index);
  if (before?.isEnded) return [];
  const streamed = before?.text ?? "";
  const events = growText(draft, kind, {
    index,
    delta: whole.startsWith(streamed) ? whole.slice(streamed.length) : "",
  });
  const text = before ?? draft.texts.at(-1);
  if (!text || text.index !== index || text.kind !== kind) return events;
  if (whole !== "") text.text = whole;
  return [...events, ...endOfText(text)];
}

/** Ends a text once. Thinking has no event of its own: it ends with its item, which may hold several. */
export function endOfText(text: TextDraft): ProviderEvent[] {
  if (text.isEnded) return [];
  text.isEnded = true;
  const isThinking = text.kind === "summary_text" || text.kind === "reasoning_text";
  return isThinking ? [] : [{ type: "text_end", text: text.text }];
}

/** Takes in a piece of a call's arguments. Before the call is announced nothing is told of it. */
export function growArguments(draft: ItemDraft, delta: string): ProviderEvent[] {
  if (delta === "") return [];
  draft.json += delta;
  return draft.isAnnounced ? [callDelta(draft, delta)] : [];
}

/** Takes in the whole of the arguments. */
export function endArguments(draft: ItemDraft, whole: string): ProviderEvent[] {
  const events = growArguments(draft, whole.startsWith(draft.json) ? whole.slice(draft.json.length) : "");
  if (whole !== "") draft.json = whole;
  return events;
}

/** Replaces a draft's item by the whole one, and takes in what of its texts was not streamed. */
export function completeItem(draft: ItemDraft, item: unknown): ProviderEvent[] {
  const start = announceItem(draft, item);
  if (isRecord(item)) draft.raw = { type: draft.raw.type, ...item };
  draft.isDone = true;
  const { type, content, summary } = draft.raw;
  if (type === "function_call") return [...start, ...endArguments(draft, asString(draft.raw.arguments))];
  return [
    ...recordsOf(summary).flatMap((part, index) => endPart(draft, part, index)),
    ...recordsOf(content).flatMap((part, index) => endPart(draft, part, index)),
  ];
}

/** The objects of what should be a list of them; empty for anything else. */
export function recordsOf(list: unknown): Array<Record<string, unknown>> {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** Takes in a whole part of a message or of reasoning; a part of a kind we do not know has no text. */
export function endPart(draft: ItemDraft, part: unknown, index: number): ProviderEvent[] {
  const { type, text, refusal } = asRecord(part);
  if (type === "refusal") return endText(draft, type, { index, whole: asString(refusal) });
  const isText = type === "output_text" || type === "summary_text" || type === "reasoning_text";
  return isText ? endText(draft, type, { index, whole: asString(text) }) : [];
}
