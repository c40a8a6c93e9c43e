import type { ProviderReplay } from "../types.ts";
import { asRecord, isRecord } from "./json-value.ts";

/** The `provider` of replay data and opaque blocks that came from here and go back here. */
export const OPENAI = "openai";

/**
 * What goes back with a part of a message besides its text: the fields of the message it belongs to, such as `id` and
 * `phase`, and its own, such as `annotations`. Parts with the same `message.id` are one message.
 */
export interface PartReplay {
  message: Record<string, unknown>;
  part: Record<string, unknown>;
}

/** Undefined for replay data without both objects, such as that of a call. */
export function toPartReplay(data: unknown): PartReplay | undefined {
  const { message, part } = asRecord(data);
  return isRecord(message) && isRecord(part) ? { message, part } : undefined;
}

/** The replay data of a block, if it is ours. */
export function ownReplayOf(block: { replay?: ProviderReplay }): unknown {
  return block.replay?.provider === OPENAI ? block.replay.data : undefined;
}
