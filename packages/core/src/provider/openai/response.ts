import type { ResponseInputItem, ResponseReasoningItem } from "openai/resources/responses/responses";
import {
  type ContentBlock,
  EMPTY_USAGE,
  type OpaqueBlock,
  type ProviderReplay,
  type TextBlock,
  type ThinkingBlock,
  type ToolCallBlock,
} from "../../types.ts";
import type { ProviderEvent } from "../types.ts";
import { asRecord, asString, countOf, isRecord, toWellFormedRecord, toWireName } from "../wire-format.ts";
import {
  OPENAI,
  type OpenAIAnswer,
  type PartialItem,
  type PartReplay,
  recordsOf,
  type TextDraft,
  type TextKind,
  thinkingText,
  toCallItem,
  toToolCall,
  toUsage,
} from "./items.ts";

type Fields = Record<string, unknown>;

/** Creates the state of one answer, which the events of the response update. */
export function createOpenAIAnswer(): OpenAIAnswer {
  return {
    drafts: [],
    usage: EMPTY_USAGE,
    rawStopReason: undefined,
    isStarted: false,
    isFinished: false,
    isIncomplete: false,
    failure: undefined,
  };
}

/**
 * Applies one event of the API to the answer and returns the resulting provider events. Unknown events and fields are
 * skipped; the events of several items may alternate.
 */
export function applyOpenAIEvent(answer: OpenAIAnswer, event: unknown): ProviderEvent[] {
  const fields = asRecord(event);
  const ours = applyFields(answer, fields);
  if (answer.isStarted || !asString(fields.type).startsWith("response.")) return ours;
  answer.isStarted = true;
  return [{ type: "start" }, ...ours];
}

function applyFields(answer: OpenAIAnswer, fields: Fields): ProviderEvent[] {
  switch (fields.type) {
    case "response.output_item.added":
      return announceItem(findItem(answer, fields) ?? openItem(answer, fields), fields.item);
    case "response.output_item.done":
      return isOver(answer, fields)
        ? []
        : endItem(findItem(answer, fields) ?? openItem(answer, fields), fields.item);
    case "response.completed":
    case "response.incomplete":
      return finish(answer, asRecord(fields.response), fields.type === "response.incomplete");
    case "response.failed":
      answer.failure = failureOf(asRecord(fields.response).error);
      return [];
    case "error":
      answer.failure = failureOf(fields.error ?? fields);
      return [];
    default:
      return applyPiece(answer, fields);
  }
}

/** The event prefix of each kind of text, the item that it belongs to, and its name there. */
const KIND_OF_PIECE: Readonly<Record<string, { item: string; kind: TextKind | "arguments" | "part" }>> = {
  "response.content_part": { item: "message", kind: "part" },
  "response.output_text": { item: "message", kind: "output_text" },
  "response.refusal": { item: "message", kind: "refusal" },
  "response.reasoning_summary_text": { item: "reasoning", kind: "summary_text" },
  "response.reasoning_text": { item: "reasoning", kind: "reasoning_text" },
  "response.function_call_arguments": { item: "function_call", kind: "arguments" },
};

function applyPiece(answer: OpenAIAnswer, fields: Fields): ProviderEvent[] {
  const [, name = "", step] = /^(.*)\.(delta|done)$/.exec(asString(fields.type)) ?? [];
  const piece = KIND_OF_PIECE[name];
  if (!piece || (!findItem(answer, fields) && isOver(answer, fields))) return [];
  const draft = findItem(answer, fields) ?? openItem(answer, fields, { type: piece.item });
  const delta = asString(fields.delta);
  if (piece.kind === "arguments") {
    return step === "delta" ? growArguments(draft, delta) : endArguments(draft, asString(fields.arguments));
  }
  const index = countOf(piece.kind === "summary_text" ? fields.summary_index : fields.content_index);
  if (piece.kind === "part") return endPart(draft, fields.part, index);
  if (step === "delta") return growText(draft, piece.kind, { index, delta });
  return endText(draft, piece.kind, { index, whole: asString(fields.text) || asString(fields.refusal) });
}

function openItem(answer: OpenAIAnswer, fields: Fields, item: Fields = {}): PartialItem {
  const draft = createPartialItem(
    { outputIndex: fields.output_index, itemId: idOf(fields) },
    answer.drafts.length,
    item,
  );
  answer.drafts.push(draft);
  return draft;
}

/**
 * The open item that an event belongs to. Gateways change an item's id between events, so its index takes precedence.
 */
function findItem({ drafts }: OpenAIAnswer, fields: Fields): PartialItem | undefined {
  return drafts.findLast((draft) => !draft.isDone && isSameItem(draft, fields));
}

/** True for an event that arrives after the end of its item. */
function isOver({ drafts }: OpenAIAnswer, fields: Fields): boolean {
  const draft = drafts.findLast((candidate) => isSameItem(candidate, fields));
  return draft?.isDone === true && (fields.item === undefined || draft.raw.id === idOf(fields));
}

function isSameItem({ outputIndex, itemId }: PartialItem, fields: Fields): boolean {
  return fields.output_index === undefined ? itemId === idOf(fields) : outputIndex === fields.output_index;
}

function idOf({ item_id, item }: Fields): unknown {
  return item_id ?? asRecord(item).id;
}

function endItem(draft: PartialItem, item: unknown): ProviderEvent[] {
  return [...completeItem(draft, item), ...endEvents(draft)];
}

function endEvents(draft: PartialItem): ProviderEvent[] {
  if (draft.raw.type === "function_call") {
    const { id, name, input } = toToolCall(draft, { isCut: false, followsReasoning: false });
    return [{ type: "tool_call_end", id, name, input }];
  }
  const thinking = draft.raw.type === "reasoning" ? thinkingText(draft.texts) : "";
  if (thinking !== "") return [{ type: "thinking_end", thinking }];
  return draft.texts.flatMap(endOfText);
}

function finish(answer: OpenAIAnswer, response: Fields, isIncomplete: boolean): ProviderEvent[] {
  const reason = asString(asRecord(response.incomplete_details).reason);
  answer.isFinished = true;
  answer.isIncomplete = isIncomplete || response.status === "incomplete";
  answer.rawStopReason = reason || asString(response.status) || (isIncomplete ? "incomplete" : "completed");
  // A server may stream nothing before the end, and then send everything in the last event.
  const pendingItems = answer.drafts.length === 0 ? recordsOf(response.output) : [];
  const told = pendingItems.flatMap((item, index) =>
    endItem(openItem(answer, { output_index: index, item }), item),
  );
  const open = answer.drafts.filter(({ isDone }) => !isDone);
  answer.usage = toUsage(asRecord(response.usage), answer.drafts);
  return [...told, ...open.flatMap(endEvents), { type: "usage", usage: answer.usage }];
}

function failureOf(error: unknown): Fields {
  const failure = typeof error === "string" ? { message: error } : asRecord(error);
  return Object.keys(failure).length > 0 ? failure : { message: "no reason was given" };
}

/** @param place the item's index in the answer; `item` has the fields known so far. */
function createPartialItem(
  { outputIndex, itemId }: Pick<PartialItem, "outputIndex" | "itemId">,
  place: number,
  item: unknown,
): PartialItem {
  const raw = { ...asRecord(item) };
  const callId = `call_${place + 1}`;
  return { outputIndex, itemId, raw, texts: [], json: "", callId, isAnnounced: false, isDone: false };
}

/** Adds the item at its start. */
function announceItem(draft: PartialItem, item: unknown): ProviderEvent[] {
  if (draft.isAnnounced) return [];
  draft.isAnnounced = true;
  draft.raw = { ...draft.raw, ...toCallItem(asRecord(item)) };
  const { type, call_id, id, name } = draft.raw;
  draft.callId = asString(call_id) || asString(id) || draft.callId;
  if (type !== "function_call") return [];
  const begun = draft.json === "" ? [] : [callDelta(draft, draft.json)];
  return [{ type: "tool_call_start", id: draft.callId, name: asString(name) }, ...begun];
}

function callDelta({ callId }: PartialItem, delta: string): ProviderEvent {
  return { type: "tool_call_delta", id: callId, delta };
}

/** Adds a piece to a text; a new part of reasoning is separated from the previous one. */
function growText(
  draft: PartialItem,
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

/** Applies the complete text, of which all, some or nothing may have been streamed. */
function endText(
  draft: PartialItem,
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

/** Ends a text once. Thinking has no end event of its own: it ends with its item, which may have several parts. */
function endOfText(text: TextDraft): ProviderEvent[] {
  if (text.isEnded) return [];
  text.isEnded = true;
  const isThinking = text.kind === "summary_text" || text.kind === "reasoning_text";
  return isThinking ? [] : [{ type: "text_end", text: text.text }];
}

/** Adds a piece of a call's arguments. No events are emitted before the call is announced. */
function growArguments(draft: PartialItem, delta: string): ProviderEvent[] {
  if (delta === "") return [];
  draft.json += delta;
  return draft.isAnnounced ? [callDelta(draft, delta)] : [];
}

/** Applies the complete arguments. */
function endArguments(draft: PartialItem, whole: string): ProviderEvent[] {
  const events = growArguments(draft, whole.startsWith(draft.json) ? whole.slice(draft.json.length) : "");
  if (whole !== "") draft.json = whole;
  return events;
}

/** Replaces a partial item by the complete one, and adds the parts of its texts that were not streamed. */
function completeItem(draft: PartialItem, item: unknown): ProviderEvent[] {
  const start = announceItem(draft, item);
  if (isRecord(item)) draft.raw = { type: draft.raw.type, ...toCallItem(item) };
  draft.isDone = true;
  const { type, content, summary } = draft.raw;
  if (type === "function_call") return [...start, ...endArguments(draft, asString(draft.raw.arguments))];
  return [
    ...recordsOf(summary).flatMap((part, index) => endPart(draft, part, index)),
    ...recordsOf(content).flatMap((part, index) => endPart(draft, part, index)),
  ];
}

/** Applies a complete part of a message or of reasoning; a part of an unknown kind has no text. */
function endPart(draft: PartialItem, part: unknown, index: number): ProviderEvent[] {
  const { type, text, refusal } = asRecord(part);
  if (type === "refusal") return endText(draft, type, { index, whole: asString(refusal) });
  const isText = type === "output_text" || type === "summary_text" || type === "reasoning_text";
  return isText ? endText(draft, type, { index, whole: asString(text) }) : [];
}

const MAX_NAME_CHARS = 64;

/** The parts of a message that the API accepts back. */
export interface PieceContext {
  /** Converts an id to one that the API accepts. */
  toWireId(toolCallId: string): string;
  /** False for a model that rejects reasoning: none is sent to it. */
  takesReasoning: boolean;
  /** What the API has rejected: reasoning, by `reasoningKeyOf`, and the ids of other items. */
  refused: ReadonlySet<string>;
  /** Opaque items that cannot be sent back. */
  unanswered: ReadonlySet<OpaqueBlock>;
  /** True if the request defers tools: searches for them are then sent back as such. */
  hasDeferred: boolean;
}

/** A part of an assistant message, prepared for the API. */
export interface Piece {
  /** The original item; undefined if it cannot be sent back. */
  whole: ResponseInputItem | undefined;
  /**
   * The replacement if the item cannot be sent back under its id; none for an item that only its provider
   * understands.
   */
  plain: ResponseInputItem[];
  /** The item's id, empty when it has none. */
  id: string;
  isReasoning: boolean;
}

/** The key of a reasoning item in the set of rejected items. */
export function reasoningKeyOf({ encrypted_content, id }: ResponseReasoningItem): string {
  return encrypted_content || id;
}

/** The pieces of a message; the blocks of one message item form one piece. Blocks of other providers are left out. */
export function toPieces(blocks: readonly ContentBlock[], context: PieceContext): Piece[] {
  const pieces: Piece[] = [];
  let open: { id: string; parts: PartReplay["part"][]; piece: Piece } | undefined;
  for (const block of blocks) {
    const replay = toMessagePart(block);
    if (replay && open && open.id === replay.message.id) {
      open.parts.push(replay.part);
      open.piece.whole = toMessageItem(replay.message, open.parts);
      open.piece.plain.push(...toPlainText(block));
      continue;
    }
    const piece = replay ? toMessagePiece(block, replay) : toPiece(block, context);
    open = replay && piece ? { id: asString(replay.message.id), parts: [replay.part], piece } : undefined;
    if (piece) pieces.push(piece);
  }
  return pieces;
}

function toPiece(block: ContentBlock, context: PieceContext): Piece | undefined {
  switch (block.type) {
    case "text":
      return { whole: undefined, plain: toPlainText(block), id: "", isReasoning: false };
    case "tool_call":
      return toCallPiece(block, context);
    case "thinking":
      return toReasoningPiece(block, context);
    case "opaque":
      return block.provider === OPENAI ? toOpaquePiece(block, context.unanswered) : undefined;
    default:
      // Assistant messages contain no images.
      return undefined;
  }
}

/** The original part of a message, if the block has the replay data for it. */
function toMessagePart(block: ContentBlock): PartReplay | undefined {
  if (block.type === "opaque") return block.provider === OPENAI ? withId(toPartReplay(block.raw)) : undefined;
  const replay = block.type === "text" ? withId(toPartReplay(ownReplayOf(block))) : undefined;
  if (!replay || block.type !== "text") return undefined;
  const text = replay.part.type === "refusal" ? { refusal: block.text } : { text: block.text };
  return { message: replay.message, part: { ...replay.part, ...text } };
}

function withId(replay: PartReplay | undefined): PartReplay | undefined {
  return replay && isItemId(replay.message.id, "msg") ? replay : undefined;
}

/** The API rejects an id of another length or with another prefix, such as a compatible server may have given. */
function isItemId(id: unknown, prefix: "msg" | "fc" | "rs" | ""): boolean {
  const text = asString(id);
  return text.startsWith(prefix) && /^[a-zA-Z0-9_-]{1,64}$/.test(text);
}

function toMessagePiece(block: ContentBlock, { message, part }: PartReplay): Piece {
  const whole = toMessageItem(message, [part]);
  return { whole, plain: toPlainText(block), id: asString(message.id), isReasoning: false };
}

function toMessageItem(
  message: PartReplay["message"],
  parts: PartReplay["part"][],
): ResponseInputItem | undefined {
  const fields = Object.entries(message).filter(([, value]) => value != null);
  const item = { ...Object.fromEntries(fields), type: "message", role: "assistant", content: parts };
  return toInputItem(item);
}

function toPlainText(block: ContentBlock): ResponseInputItem[] {
  if (block.type !== "text") return [];
  const phase = phaseOf(block);
  return [
    { type: "message", role: "assistant", content: block.text.toWellFormed(), ...(phase && { phase }) },
  ];
}

function phaseOf(block: TextBlock): "commentary" | "final_answer" | undefined {
  const phase = toPartReplay(ownReplayOf(block))?.message.phase;
  return phase === "commentary" || phase === "final_answer" ? phase : undefined;
}

/** True for a call by which the model searched for deferred tools. */
export function isToolSearch(block: ToolCallBlock): boolean {
  return asRecord(ownReplayOf(block)).execution === "client";
}

function toSearchPiece(block: ToolCallBlock, { toWireId }: PieceContext): Piece {
  const { id, status } = asRecord(ownReplayOf(block));
  const call: ResponseInputItem = {
    type: "tool_search_call",
    call_id: toWireId(block.id),
    execution: "client",
    arguments: toWellFormedRecord(block.input),
  };
  if (!isItemId(id, "")) return { whole: undefined, plain: [call], id: "", isReasoning: false };
  const whole = toInputItem({ ...call, id, ...(status != null && { status }) });
  return { whole, plain: [call], id: asString(id), isReasoning: false };
}

function toCallPiece(block: ToolCallBlock, context: PieceContext): Piece {
  if (context.hasDeferred && isToolSearch(block)) return toSearchPiece(block, context);
  const { toWireId } = context;
  const { id, status, execution: _, ...fields } = asRecord(ownReplayOf(block));
  const call: ResponseInputItem = {
    ...toWellFormedRecord(fields),
    type: "function_call",
    call_id: toWireId(block.id),
    name: toWireName(block.name, MAX_NAME_CHARS),
    arguments: JSON.stringify(toWellFormedRecord(block.input)),
  };
  if (!isItemId(id, "fc")) return { whole: undefined, plain: [call], id: "", isReasoning: false };
  const whole = toInputItem({ ...call, id, ...(status != null && { status }) });
  return { whole, plain: [call], id: asString(id), isReasoning: false };
}

/** Without encrypted content or open text, the API would look reasoning up by its id, but nothing is stored there. */
function toReasoningPiece(
  block: ThinkingBlock,
  { takesReasoning, refused }: PieceContext,
): Piece | undefined {
  const own = ownReplayOf(block);
  if (own === undefined) return undefined;
  const item = toWellFormedRecord(asRecord(own));
  const isKnown = takesReasoning && isReasoningItem(item) && !refused.has(reasoningKeyOf(item));
  const whole = isKnown && (item.encrypted_content || item.content?.length) ? item : undefined;
  return { whole, plain: [], id: asString(item.id), isReasoning: true };
}

function isReasoningItem(
  item: Record<string, unknown>,
): item is Record<string, unknown> & ResponseReasoningItem {
  const { type, id, summary } = item;
  return type === "reasoning" && isItemId(id, "rs") && Array.isArray(summary);
}

/** An opaque item that cannot be sent back still separates reasoning from what follows. */
function toOpaquePiece(block: OpaqueBlock, unanswered: ReadonlySet<OpaqueBlock>): Piece {
  const item = asRecord(block.raw);
  const fits = !unanswered.has(block) && (item.id == null || isItemId(item.id, ""));
  return {
    whole: fits ? toInputItem(item) : undefined,
    plain: [],
    id: asString(item.id),
    isReasoning: false,
  };
}

function toInputItem(item: Record<string, unknown>): ResponseInputItem | undefined {
  const wellFormed = toWellFormedRecord(item);
  return isInputItem(wellFormed) ? wellFormed : undefined;
}

/** The API wrote the item itself, so it only has to have a type. */
function isInputItem(value: Record<string, unknown>): value is Record<string, unknown> & ResponseInputItem {
  return typeof value.type === "string" && value.type !== "";
}

/** Undefined for replay data without both objects, such as that of a call. */
function toPartReplay(data: unknown): PartReplay | undefined {
  const { message, part } = asRecord(data);
  return isRecord(message) && isRecord(part) ? { message, part } : undefined;
}

/** The replay data of a block, if it came from this API. */
function ownReplayOf(block: { replay?: ProviderReplay }): unknown {
  return block.replay?.provider === OPENAI ? block.replay.data : undefined;
}
