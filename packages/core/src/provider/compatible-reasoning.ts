import type { ProviderReplay, ThinkingBlock } from "../types.ts";
import { asRecord, asString, isRecord, toWellFormedRecord } from "./json-value.ts";

/** Where servers put a model's thinking; a gateway that fills several says the same in each. */
export const THINKING_FIELDS = ["reasoning_content", "reasoning", "thinking"] as const;

/** One of `THINKING_FIELDS`; thinking goes back in the one it came in. */
export type ThinkingField = (typeof THINKING_FIELDS)[number];

/** An element of `reasoning_details` as the gateway sent it: its fields are the gateway's own. */
export type ReasoningDetail = Record<string, unknown>;

/** What goes back with thinking besides its text: the field it came in, and what a gateway sent with it. */
export interface ThinkingReplay {
  field: ThinkingField | undefined;
  details: ReasoningDetail[];
}

/** The thinking in a delta, from the first field that holds any. */
export function readThinking(
  delta: Record<string, unknown>,
): { text: string; field: ThinkingField } | undefined {
  const field = THINKING_FIELDS.find((name) => asString(delta[name]) !== "");
  return field && { text: asString(delta[field]), field };
}

/**
 * Adds what `reasoning_details` brings, as OpenRouter and its like send it: pieces of a text or of a summary belong
 * to the one before, what is encrypted stands by itself.
 */
export function addReasoningDetails(details: ReasoningDetail[], delta: Record<string, unknown>): void {
  const pieces = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isRecord) : [];
  for (const piece of pieces) {
    const last = details.at(-1);
    const goesOn = last && last.type === piece.type && last.index === piece.index && piece.data === undefined;
    if (goesOn) Object.assign(last, joinDetails(last, piece));
    else details.push({ ...piece });
  }
}

function joinDetails(last: ReasoningDetail, piece: ReasoningDetail): ReasoningDetail {
  const told = Object.entries(piece).filter(([, value]) => value != null);
  const isText = (value: unknown) => typeof value === "string";
  const grown = (["text", "summary"] as const)
    .filter((key) => isText(last[key]) && isText(piece[key]))
    .map((key) => [key, `${last[key]}${piece[key]}`]);
  return { ...Object.fromEntries(told), ...Object.fromEntries(grown) };
}

/** Replay data goes back to `provider`, the server's name; there is none without field and details. */
export function toThinkingBlock(
  thinking: string,
  { field, details }: ThinkingReplay,
  provider: string,
): ThinkingBlock {
  if (!field && details.length === 0) return { type: "thinking", thinking };
  const data = { ...(field && { field }), ...(details.length > 0 && { details }) };
  return { type: "thinking", thinking, replay: { provider, data } };
}

/** The field thinking came in and what came with it; empty when it was another server's. */
export function readThinkingReplay(replay: ProviderReplay | undefined, provider: string): ThinkingReplay {
  const data = asRecord(replay?.provider === provider ? replay.data : undefined);
  return {
    field: THINKING_FIELDS.find((name) => name === data.field),
    details: Array.isArray(data.details) ? data.details.filter(isRecord).map(toWellFormedRecord) : [],
  };
}
