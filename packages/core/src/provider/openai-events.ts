import type { Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import { asRecord, asString, countOf } from "./json-value.ts";
import {
  announceItem,
  completeItem,
  createItemDraft,
  endArguments,
  endOfText,
  endPart,
  endText,
  growArguments,
  growText,
  type ItemDraft,
  recordsOf,
  type TextKind,
} from "./openai-drafts.ts";
import { thinkingText, toToolCall } from "./openai-items.ts";
import { toUsage } from "./openai-message.ts";
import type { ProviderEvent } from "./types.ts";

type Fields = Record<string, unknown>;

/** What has arrived of an answer. */
export interface OpenAIAnswer {
  drafts: ItemDraft[];
  usage: Usage;
  rawStopReason: string | undefined;
  isStarted: boolean;
  /** True after the last event: an answer that ends without it was cut. */
  isFinished: boolean;
  isIncomplete: boolean;
  /** What the API says went wrong, if it did; nothing of the answer counts then. */
  failure: Fields | undefined;
}

/** An answer of which nothing has arrived; applying the events of one response changes it. */
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
 * Takes one event of the API into the answer and returns what it means to us. Unknown events and fields are passed over;
 * an item's events may come between those of another.
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

/** How each kind of piece begins its name, what it is a piece of, and what it is called there. */
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

function openItem(answer: OpenAIAnswer, fields: Fields, item: Fields = {}): ItemDraft {
  const draft = createItemDraft(
    { outputIndex: fields.output_index, itemId: idOf(fields) },
    answer.drafts.length,
    item,
  );
  answer.drafts.push(draft);
  return draft;
}

/** The open item that an event belongs to. Gateways change an item's id from event to event: its place counts first. */
function findItem({ drafts }: OpenAIAnswer, fields: Fields): ItemDraft | undefined {
  return drafts.findLast((draft) => !draft.isDone && isSameItem(draft, fields));
}

/** True for an event that comes after the end of its item. */
function isOver({ drafts }: OpenAIAnswer, fields: Fields): boolean {
  const draft = drafts.findLast((candidate) => isSameItem(candidate, fields));
  return draft?.isDone === true && (fields.item === undefined || draft.raw.id === idOf(fields));
}

function isSameItem({ outputIndex, itemId }: ItemDraft, fields: Fields): boolean {
  return fields.output_index === undefined ? itemId === idOf(fields) : outputIndex === fields.output_index;
}

function idOf({ item_id, item }: Fields): unknown {
  return item_id ?? asRecord(item).id;
}

function endItem(draft: ItemDraft, item: unknown): ProviderEvent[] {
  return [...completeItem(draft, item), ...endEvents(draft)];
}

function endEvents(draft: ItemDraft): ProviderEvent[] {
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
  answer.usage = toUsage(asRecord(response.usage));
  // A server that streams nothing on the way still tells the whole at the end.
  const untold = answer.drafts.length === 0 ? recordsOf(response.output) : [];
  const told = untold.flatMap((item, index) =>
    endItem(openItem(answer, { output_index: index, item }), item),
  );
  const open = answer.drafts.filter(({ isDone }) => !isDone);
  return [...told, ...open.flatMap(endEvents), { type: "usage", usage: answer.usage }];
}

function failureOf(error: unknown): Fields {
  const failure = typeof error === "string" ? { message: error } : asRecord(error);
  return Object.keys(failure).length > 0 ? failure : { message: "no reason was given" };
}
