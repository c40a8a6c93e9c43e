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
  isRecord,
  type MessageFrame,
  parseJson,
  toAssistantMessage,
  toCallInput,
} from "../wire-format.ts";
import {
  addReasoningDetails,
  type ReasoningDetail,
  readThinking,
  type ThinkingField,
  toThinkingBlock,
} from "./request.ts";

/** Follows the last chunk of a complete answer. */
export const ANSWER_END = Symbol("the end of an answer");

/** A contiguous run of text or of thinking. */
interface TextDraft {
  type: "text" | "thinking";
  text: string;
  /** The field in which the thinking arrived. */
  field: ThinkingField | undefined;
  isEnded: boolean;
}

/** A block of the answer while it arrives. */
type Draft = TextDraft | PartialCall;

/** The part of an answer that has arrived. */
export interface CompatibleAnswer {
  drafts: Draft[];
  details: ReasoningDetail[];
  usage: Usage;
  /** The newest `finish_reason`. */
  rawStopReason: string | undefined;
  isRefused: boolean;
  isStarted: boolean;
  /** True after the last event. An answer that ends before it was cut. */
  isFinished: boolean;
  /** The ids of all calls in the conversation, including those of this answer. */
  usedIds: Set<string>;
}

/** @param callIds the ids of the tool calls already in the conversation. */
export function createCompatibleAnswer(callIds: Iterable<string> = []): CompatibleAnswer {
  return {
    drafts: [],
    details: [],
    usage: EMPTY_USAGE,
    rawStopReason: undefined,
    isRefused: false,
    isStarted: false,
    isFinished: false,
    usedIds: new Set(callIds),
  };
}

/** Applies one chunk of the API, or `ANSWER_END`, to the answer and returns the resulting provider events. */
export function applyCompatibleEvent(answer: CompatibleAnswer, event: unknown): ProviderEvent[] {
  if (event === ANSWER_END) return endAnswer(answer);
  const ours = applyChunk(answer, asRecord(event));
  if (answer.isStarted) return ours;
  answer.isStarted = true;
  return [{ type: "start" }, ...ours];
}

/** Some servers send a complete answer although a stream was requested: it has a message instead of deltas. */
function applyChunk(answer: CompatibleAnswer, chunk: Record<string, unknown>): ProviderEvent[] {
  const choice = firstChoice(chunk);
  const events = applyDelta(answer, asRecord(choice.delta ?? choice.message));
  answer.rawStopReason = asString(choice.finish_reason) || answer.rawStopReason;
  const usage = readUsage(chunk.usage) ?? readUsage(choice.usage);
  if (!usage) return events;
  answer.usage = usage;
  return [...events, { type: "usage", usage }];
}

/** The first choice: only one answer is requested. */
export function firstChoice({ choices }: Record<string, unknown>): Record<string, unknown> {
  return asRecord(Array.isArray(choices) ? choices[0] : undefined);
}

function applyDelta(answer: CompatibleAnswer, delta: Record<string, unknown>): ProviderEvent[] {
  addReasoningDetails(answer.details, delta);
  const thinking = readThinking(delta);
  const refusal = asString(delta.refusal);
  answer.isRefused ||= refusal !== "";
  return [
    ...(thinking ? growText(answer, { type: "thinking", ...thinking }) : []),
    ...growContent(answer, delta.content),
    ...growText(answer, { type: "text", text: refusal }),
    ...applyCalls(delta, {
      calls: answer.drafts.filter((draft) => draft.type === "tool_call"),
      open: (call) => openDraft(answer, call),
      usedIds: answer.usedIds,
    }),
  ];
}

/** Mistral's server sends content as a list of parts, thinking among them. */
function growContent(answer: CompatibleAnswer, content: unknown): ProviderEvent[] {
  if (!Array.isArray(content)) return growText(answer, { type: "text", text: asString(content) });
  return content.filter(isRecord).flatMap((part) => {
    if (part.type !== "thinking") return growText(answer, { type: "text", text: asString(part.text) });
    const texts = Array.isArray(part.thinking) ? part.thinking : [{ text: part.thinking }];
    const text = texts.map((piece) => asString(asRecord(piece).text)).join("");
    return growText(answer, { type: "thinking", text });
  });
}

function growText(
  answer: CompatibleAnswer,
  { type, text, field }: Pick<TextDraft, "type" | "text"> & { field?: ThinkingField },
): ProviderEvent[] {
  if (text === "") return [];
  const delta: ProviderEvent = { type: type === "text" ? "text_delta" : "thinking_delta", delta: text };
  const last = answer.drafts.at(-1);
  if (last && last.type !== "tool_call" && last.type === type) {
    last.text += text;
    return [delta];
  }
  return [...openDraft(answer, { type, text, field, isEnded: false }), delta];
}

/** Opens a block, which ends the text before it. */
function openDraft(answer: CompatibleAnswer, draft: Draft): ProviderEvent[] {
  const ended = answer.drafts.flatMap(endOfText);
  answer.drafts.push(draft);
  return ended;
}

function endOfText(draft: Draft): ProviderEvent[] {
  if (draft.type === "tool_call" || draft.isEnded) return [];
  draft.isEnded = true;
  const { type, text } = draft;
  return [type === "text" ? { type: "text_end", text } : { type: "thinking_end", thinking: text }];
}

/** Ends the calls. Until now, each of them could receive more arguments. */
function endAnswer(answer: CompatibleAnswer): ProviderEvent[] {
  answer.isFinished = true;
  return answer.drafts.flatMap((draft): ProviderEvent[] => {
    if (draft.type !== "tool_call") return endOfText(draft);
    const { id, name, input } = toToolCall(draft, { isCut: false });
    return [...announce(draft), { type: "tool_call_end", id, name, input }];
  });
}

/** A tool call while it arrives. */
interface PartialCall {
  type: "tool_call";
  /** The index or id by which the server identifies the call, if it sends one. */
  index: unknown;
  wireId: string;
  /** Unique in the conversation. */
  id: string;
  name: string;
  json: string;
  /** Data that a gateway sends with a call and expects back with it, such as Gemini's signature. */
  extraContent: unknown;
  isAnnounced: boolean;
}

/** One parsed entry of `tool_calls`; missing fields are undefined or empty. */
interface CallPiece {
  index: unknown;
  id: string;
  name: string;
  /** The text of the arguments. Some servers send the complete arguments as an object. */
  json: string;
  isWhole: boolean;
  extraContent: unknown;
}

/** The fields of the answer that calls need. */
interface CallContext {
  calls: readonly PartialCall[];
  /** Adds a new call. */
  open(call: PartialCall): ProviderEvent[];
  /** The ids of the conversation's calls; new ids are added. */
  usedIds: Set<string>;
}

/** Applies the calls, or pieces of calls, in one chunk. */
function applyCalls(delta: Record<string, unknown>, context: CallContext): ProviderEvent[] {
  const touched = new Set<PartialCall>();
  return readPieces(delta).flatMap((piece) => {
    const known = findCall(piece, context.calls, touched);
    const call = known ?? createCall(piece, context.usedIds);
    touched.add(call);
    const opened = known ? [] : context.open(call);
    return [...opened, ...grow(call, piece)];
  });
}

/** Emits the start of a call and the arguments received so far. */
function announce(call: PartialCall): ProviderEvent[] {
  if (call.isAnnounced) return [];
  call.isAnnounced = true;
  const { id, name, json } = call;
  const start: ProviderEvent = { type: "tool_call_start", id, name };
  return json === "" ? [start] : [start, { type: "tool_call_delta", id, delta: json }];
}

/** True if the arguments parse as a complete object. */
function hasWholeInput({ json }: PartialCall): boolean {
  return json.trimEnd().endsWith("}") && isRecord(parseJson(json));
}

function readPieces({ tool_calls: calls, function_call: legacy }: Record<string, unknown>): CallPiece[] {
  const list = Array.isArray(calls) ? calls : [calls];
  const entries = list.filter(isRecord).map(readPiece);
  return isRecord(legacy) ? [...entries, readPiece({ index: "function_call", function: legacy })] : entries;
}

function readPiece(entry: Record<string, unknown>): CallPiece {
  const called = isRecord(entry.function) ? entry.function : entry;
  const isWhole = isRecord(called.arguments);
  return {
    index: entry.index ?? undefined,
    id: asString(entry.id),
    name: asString(called.name),
    json: isWhole ? JSON.stringify(called.arguments) : asString(called.arguments),
    isWhole,
    extraContent: entry.extra_content ?? undefined,
  };
}

/**
 * The call that a piece continues; undefined for a new call. The index decides if there is one, then the id. However,
 * some servers give every call the index 0, others repeat the name or id with every piece, and others send neither.
 */
function findCall(
  piece: CallPiece,
  calls: readonly PartialCall[],
  touched: ReadonlySet<PartialCall>,
): PartialCall | undefined {
  const { index, id } = piece;
  const call = calls.findLast((candidate) => {
    if (index !== undefined) return candidate.index === index;
    return id === "" || candidate.wireId === id;
  });
  if (!call) return undefined;
  const isNew = isOtherId(piece, call) ? beginsByOtherId(piece, call) : beginsByName(piece, call, touched);
  return isNew ? undefined : call;
}

function isOtherId({ id }: CallPiece, { wireId }: PartialCall): boolean {
  return id !== "" && wireId !== "" && id !== wireId;
}

function beginsByOtherId({ name }: CallPiece, call: PartialCall): boolean {
  return name !== "" && (name !== call.name || call.json === "" || hasWholeInput(call));
}

/** For a piece whose id does not distinguish it from the previous call. */
function beginsByName(piece: CallPiece, call: PartialCall, touched: ReadonlySet<PartialCall>): boolean {
  const { index, id, name, json } = piece;
  if (name === "" || (id !== "" && id === call.wireId)) return false;
  if (index === undefined) return touched.has(call) || name !== call.name || hasWholeInput(call);
  return json !== "" && hasWholeInput(call);
}

function createCall({ index, id }: CallPiece, usedIds: Set<string>): PartialCall {
  const ownId = toUniqueId(id, usedIds);
  usedIds.add(ownId);
  return {
    type: "tool_call",
    index,
    wireId: id,
    id: ownId,
    name: "",
    json: "",
    extraContent: undefined,
    isAnnounced: false,
  };
}

function toUniqueId(id: string, usedIds: ReadonlySet<string>): string {
  let unique = id;
  // Every server accepts an id of nine letters and digits: Mistral's servers accept nothing else.
  for (let count = usedIds.size + 1; unique === ""; count++) {
    const made = `call${String(count).padStart(5, "0")}`;
    if (!usedIds.has(made)) unique = made;
  }
  for (let count = 2; usedIds.has(unique); count++) unique = `${id}_${count}`;
  return unique;
}

function grow(call: PartialCall, piece: CallPiece): ProviderEvent[] {
  call.extraContent = piece.extraContent ?? call.extraContent;
  // A name may be repeated with every piece, or arrive in pieces before the arguments.
  if (call.name === "") call.name = piece.name;
  else if (piece.name !== call.name && call.json === "") call.name += piece.name;
  const delta = newPartOf(piece, call);
  call.json += delta;
  if (!call.isAnnounced) return call.name === "" ? [] : announce(call);
  return delta === "" ? [] : [{ type: "tool_call_delta", id: call.id, delta }];
}

/** The new part of the arguments: some servers repeat all of them at the end. */
function newPartOf({ json, isWhole }: CallPiece, call: PartialCall): string {
  const isRepeated = call.json !== "" && (isWhole || (json === call.json && hasWholeInput(call)));
  return isRepeated ? "" : json;
}

/** The finish reasons of an answer that reached a limit. */
const CUT_REASONS: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "model_length",
  "model_context_window_exceeded",
  // A retry would not return the rest.
  "content_filter",
]);

/**
 * The answer as a message. An unfinished answer was aborted: the message holds what had arrived, without incomplete
 * calls.
 *
 * @param frame.provider the name of the server that the replay data is addressed to.
 */
export function toCompatibleMessage(
  answer: CompatibleAnswer,
  frame: MessageFrame & { provider: string },
): AssistantMessage {
  const content = toContent(answer, frame.provider);
  const stopReason = answer.isFinished ? toStopReason(answer, content) : "aborted";
  const rawStopReason = stopReason === "error" ? "refusal" : answer.rawStopReason;
  return toAssistantMessage({ content, usage: answer.usage, stopReason, rawStopReason }, frame);
}

/** @param frame.isCut true if the arguments may be incomplete. */
function toToolCall(
  { id, name, json, extraContent }: PartialCall,
  { isCut, provider = "" }: { isCut: boolean; provider?: string },
): ToolCallBlock {
  return {
    type: "tool_call",
    id,
    name,
    ...toCallInput(json, isCut),
    ...(extraContent !== undefined && { replay: { provider, data: { extraContent } } }),
  };
}

function toContent(answer: CompatibleAnswer, provider: string): ContentBlock[] {
  const { drafts, details } = answer;
  const kept = answer.isFinished ? drafts : drafts.filter(isReadableHalf);
  const isCut = isCutShort(answer);
  const firstThinking = kept.find(({ type }) => type === "thinking");
  const blocks = kept.map((draft): ContentBlock => {
    switch (draft.type) {
      case "text":
        return { type: "text", text: draft.text };
      case "thinking":
        return toThinkingBlock(
          draft.text,
          { field: draft.field, details: draft === firstThinking ? details : [] },
          provider,
        );
      default:
        return toToolCall(draft, { isCut: isCut && draft === drafts.at(-1), provider });
    }
  });
  if (firstThinking || details.length === 0 || !answer.isFinished) return blocks;
  return [toThinkingBlock("", { field: undefined, details }, provider), ...blocks];
}

/** Decides what an interrupted answer keeps. A call is complete if another block follows it. */
function isReadableHalf(draft: Draft, index: number, drafts: readonly Draft[]): boolean {
  return draft.type !== "tool_call" || (index < drafts.length - 1 && hasWholeInput(draft));
}

function isCutShort({ rawStopReason }: CompatibleAnswer): boolean {
  return rawStopReason !== undefined && CUT_REASONS.has(rawStopReason);
}

function toStopReason(answer: CompatibleAnswer, content: readonly ContentBlock[]): StopReason {
  if (isCutShort(answer)) return "max_tokens";
  if (answer.isRefused) return "error";
  // Many servers send `stop` although there are calls.
  return content.some(({ type }) => type === "tool_call") ? "tool_use" : "end_turn";
}

/**
 * The tokens of an answer; undefined if none are reported. Input includes the tokens read from the cache, which
 * DeepSeek and Moonshot report under other names.
 */
function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const details = asRecord(usage.prompt_tokens_details);
  const cacheReadTokens = countOf(
    details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
  );
  const cacheWriteTokens = countOf(details.cache_write_tokens);
  return {
    inputTokens: Math.max(0, countOf(usage.prompt_tokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: countOf(usage.completion_tokens),
    cacheReadTokens,
    cacheWriteTokens,
  };
}
