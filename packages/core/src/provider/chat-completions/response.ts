import {
  type AssistantMessage,
  type ContentBlock,
  EMPTY_USAGE,
  type StopReason,
  type ToolCallBlock,
  type Usage,
} from "../../types.ts";
import type { ProviderEvent } from "../types.ts";
import { asRecord, asString, countOf, isRecord, parseJson, toCallInput } from "../wire-format.ts";
import {
  addReasoningDetails,
  type ReasoningDetail,
  readThinking,
  type ThinkingField,
  toThinkingBlock,
} from "./request.ts";

/** Comes after the last chunk of an answer that is whole. */
export const ANSWER_END = Symbol("the end of an answer");

/** A stretch of text or of thinking. */
interface TextDraft {
  type: "text" | "thinking";
  text: string;
  /** Where the thinking came in. */
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
  /** True after the last event: an answer that ends without it was cut. */
  isFinished: boolean;
  /** Ids of the conversation's calls, the answer's own included. */
  usedIds: Set<string>;
}

/** @param callIds ids of the tool calls that the conversation has already. */
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

/** A whole answer, as some servers send it although a stream was asked for, has a message in the place of deltas. */
function applyChunk(answer: CompatibleAnswer, chunk: Record<string, unknown>): ProviderEvent[] {
  const choice = firstChoice(chunk);
  const events = applyDelta(answer, asRecord(choice.delta ?? choice.message));
  answer.rawStopReason = asString(choice.finish_reason) || answer.rawStopReason;
  const usage = readUsage(chunk.usage) ?? readUsage(choice.usage);
  if (!usage) return events;
  answer.usage = usage;
  return [...events, { type: "usage", usage }];
}

/** Only one answer is asked for. */
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

/** Begins a block; the text before it is over then. */
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

/** Calls end here: until then, each may get more arguments. */
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
  /** What the server tells it from others by, as far as it does. */
  index: unknown;
  wireId: string;
  /** Unique over the conversation. */
  id: string;
  name: string;
  json: string;
  /** What a gateway sends with a call and wants back with it, such as a signature of Gemini's. */
  extraContent: unknown;
  isAnnounced: boolean;
}

/** One entry of `tool_calls`, read: what is missing is undefined or empty. */
interface CallPiece {
  index: unknown;
  id: string;
  name: string;
  /** Text of the arguments. Some servers send the arguments as an object: it is whole then. */
  json: string;
  isWhole: boolean;
  extraContent: unknown;
}

/** The answer so far, as far as it concerns calls. */
interface CallContext {
  calls: readonly PartialCall[];
  /** Adds a new call. */
  open(call: PartialCall): ProviderEvent[];
  /** Ids of the conversation's calls, added to here. */
  usedIds: Set<string>;
}

/** Takes in the calls, or pieces of calls, of one chunk. */
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

/** Tells that a call has begun, and what had come of its arguments by then. */
function announce(call: PartialCall): ProviderEvent[] {
  if (call.isAnnounced) return [];
  call.isAnnounced = true;
  const { id, name, json } = call;
  const start: ProviderEvent = { type: "tool_call_start", id, name };
  return json === "" ? [start] : [start, { type: "tool_call_delta", id, delta: json }];
}

/** True when the arguments are complete, as far as they can tell by themselves. */
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
 * The call that a piece continues; undefined for a new one. The index decides if there is one, then the id. But
 * some servers give every call the index 0, others repeat name or id with every piece, and others give neither.
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

/** For a piece that no id tells from the call before it. */
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
  // Nine letters and digits are an id to every server: Mistral's take nothing else.
  for (let count = usedIds.size + 1; unique === ""; count++) {
    const made = `call${String(count).padStart(5, "0")}`;
    if (!usedIds.has(made)) unique = made;
  }
  for (let count = 2; usedIds.has(unique); count++) unique = `${id}_${count}`;
  return unique;
}

function grow(call: PartialCall, piece: CallPiece): ProviderEvent[] {
  call.extraContent = piece.extraContent ?? call.extraContent;
  // A name may be repeated with every piece, or come in pieces before the arguments.
  if (call.name === "") call.name = piece.name;
  else if (piece.name !== call.name && call.json === "") call.name += piece.name;
  const delta = newPartOf(piece, call);
  call.json += delta;
  if (!call.isAnnounced) return call.name === "" ? [] : announce(call);
  return delta === "" ? [] : [{ type: "tool_call_delta", id: call.id, delta }];
}

/** Some servers repeat the whole of the arguments at the end. */
function newPartOf({ json, isWhole }: CallPiece, call: PartialCall): string {
  const isRepeated = call.json !== "" && (isWhole || (json === call.json && hasWholeInput(call)));
  return isRepeated ? "" : json;
}

/** Message metadata that the server does not provide. */
interface MessageFrame {
  /** The id of the model that was asked, as it was handed in. */
  model: string;
  /** The name of the server, under which goes what only it understands. */
  provider: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/** What servers call an answer that has met a limit. */
const CUT_REASONS: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "model_length",
  "model_context_window_exceeded",
  // Retrying would not bring the rest.
  "content_filter",
]);

/**
 * The answer as a message. One that is not finished was aborted: it holds what had arrived, without calls that were
 * not complete.
 */
export function toCompatibleMessage(answer: CompatibleAnswer, frame: MessageFrame): AssistantMessage {
  const content = toContent(answer, frame.provider);
  const stopReason = answer.isFinished ? toStopReason(answer, content) : "aborted";
  const rawStopReason = stopReason === "error" ? "refusal" : answer.rawStopReason;
  return {
    role: "assistant",
    content,
    model: frame.model,
    usage: answer.usage,
    stopReason,
    ...(rawStopReason !== undefined && { rawStopReason }),
    timestamp: frame.timestamp,
  };
}

/** @param frame.isCut true when the arguments may have been cut off. */
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

/** Of an answer that broke off; a call is over when something has come after it. */
function isReadableHalf(draft: Draft, index: number, drafts: readonly Draft[]): boolean {
  return draft.type !== "tool_call" || (index < drafts.length - 1 && hasWholeInput(draft));
}

function isCutShort({ rawStopReason }: CompatibleAnswer): boolean {
  return rawStopReason !== undefined && CUT_REASONS.has(rawStopReason);
}

function toStopReason(answer: CompatibleAnswer, content: readonly ContentBlock[]): StopReason {
  if (isCutShort(answer)) return "max_tokens";
  if (answer.isRefused) return "error";
  // Many a server says `stop` though there are calls.
  return content.some(({ type }) => type === "tool_call") ? "tool_use" : "end_turn";
}

/**
 * The tokens of an answer; undefined if none are reported. Input includes what was read from the cache, whose number
 * DeepSeek and Moonshot have under names of their own.
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
