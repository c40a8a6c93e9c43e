import type { Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import { announce, applyCalls, type CallDraft } from "./compatible-calls.ts";
import { toToolCall } from "./compatible-message.ts";
import {
  addReasoningDetails,
  type ReasoningDetail,
  readThinking,
  type ThinkingField,
} from "./compatible-reasoning.ts";
import { readUsage } from "./compatible-usage.ts";
import { asRecord, asString, isRecord } from "./json-value.ts";
import type { ProviderEvent } from "./types.ts";

/** Comes after the last chunk of an answer that is whole. */
export const ANSWER_END = Symbol("the end of an answer");

/** A stretch of text or of thinking. */
export interface TextDraft {
  type: "text" | "thinking";
  text: string;
  /** Where the thinking came in. */
  field: ThinkingField | undefined;
  isEnded: boolean;
}

/** A block of the answer while it arrives. */
export type Draft = TextDraft | CallDraft;

/** What has arrived of an answer. */
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

/** Takes one chunk of the API, or `ANSWER_END`, into the answer and returns what it means to us. */
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
