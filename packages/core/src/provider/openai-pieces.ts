import type { ResponseInputItem, ResponseReasoningItem } from "openai/resources/responses/responses";
import type { ContentBlock, OpaqueBlock, TextBlock, ThinkingBlock, ToolCallBlock } from "../types.ts";
import { toWireName } from "./call-names.ts";
import { asRecord, asString, toWellFormedRecord } from "./json-value.ts";
import { OPENAI, ownReplayOf, type PartReplay, toPartReplay } from "./openai-replay.ts";

const MAX_NAME_CHARS = 64;

/** What of a message the API takes back. */
export interface PieceContext {
  /** An id as the API takes it. */
  toWireId(toolCallId: string): string;
  /** False for a model that refuses reasoning: none is sent to it. */
  takesReasoning: boolean;
  /** What the API has refused: reasoning, by `reasoningKeyOf`, and the ids of other items. */
  refused: ReadonlySet<string>;
  /** Opaque items that cannot go back. */
  unanswered: ReadonlySet<OpaqueBlock>;
}

/** A part of an assistant message on its way to the API. */
export interface Piece {
  /** The item as the API made it; undefined when it cannot go back so. */
  whole: ResponseInputItem | undefined;
  /** What is sent where the item cannot go back under its id; nothing for what only its maker understands. */
  plain: ResponseInputItem[];
  /** The item's id, empty when it has none. */
  id: string;
  isReasoning: boolean;
}

/** What stands for a reasoning item among those that the API has refused. */
export function reasoningKeyOf({ encrypted_content, id }: ResponseReasoningItem): string {
  return encrypted_content || id;
}

/** The pieces of a message; the blocks of one message item are one piece. Blocks of other providers are left out. */
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
      // Assistant messages hold no images.
      return undefined;
  }
}

/** A part of a message as the API made it, where the block is one and was kept with what that takes. */
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

/** The API refuses an id of another length or beginning, such as a compatible server may have given. */
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

function toCallPiece(block: ToolCallBlock, { toWireId }: PieceContext): Piece {
  const { id, status, ...fields } = asRecord(ownReplayOf(block));
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

/** Without its encrypted content or open text, the API would look reasoning up by its id, and nothing is stored there. */
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

/** One that cannot go back still stands between reasoning and what follows. */
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

/** The API wrote the item itself, so having a type is all that is asked of it. */
function isInputItem(value: Record<string, unknown>): value is Record<string, unknown> & ResponseInputItem {
  return typeof value.type === "string" && value.type !== "";
}
