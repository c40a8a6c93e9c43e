import { type Message, type ToolCallBlock, type ToolResultMessage, toolCallsOf } from "../types.ts";
import type { SessionEntry, SessionMessageEntry } from "./types.ts";

/** The default of the compaction plan, for an entry without this value. */
const DEFAULT_TRIM_CHARS = 1_500;

// Enough to recognize a call by a path or a command.
const SHOWN_ARGUMENT_CHARACTERS = 200;

// In less than this, the name of the call would take the room of its result.
const LEAST_CHARACTERS_BESIDE_CALL = 1_000;

/** Characters kept of a trimmed result. */
interface TrimSizes {
  head: number;
  tail: number;
}

/** How a result is shown: as a placeholder, or with its head and tail. */
type PrunedForm = { recall?: false | undefined } & (
  | { kind: "cleared" }
  | { kind: "trimmed"; sizes: TrimSizes }
);

/** The form of each pruned result, by the id of its entry. */
export type PrunedForms = ReadonlyMap<string, PrunedForm>;

/**
 * Combines the prune entries of a branch: the latest sizes apply, and cleared results stay cleared. @param from the
 * position of the first relevant result: entries that prune it come after it.
 */
export function collectPrunes(path: readonly SessionEntry[], from = 0): PrunedForms {
  const forms = new Map<string, PrunedForm>();
  for (let position = from; position < path.length; position++) {
    const entry = path[position];
    if (entry?.type !== "prune") continue;
    const {
      cleared,
      trimmed,
      trimHead: head = DEFAULT_TRIM_CHARS,
      trimTail: tail = DEFAULT_TRIM_CHARS,
      recall,
    } = entry;
    const sizes = { head, tail };
    for (const id of trimmed)
      if (forms.get(id)?.kind !== "cleared") forms.set(id, { kind: "trimmed", sizes, recall });
    for (const id of cleared) forms.set(id, { kind: "cleared", recall });
  }
  return forms;
}

/** The entry's message as the model sees it: only results without images are ever shortened. */
export function applyPrunes(
  { id, message }: SessionMessageEntry,
  forms: PrunedForms,
  callOf: () => ToolCallBlock | undefined,
): Message {
  const form = forms.get(id);
  if (form === undefined || message.role !== "tool_result" || message.images?.length) return message;
  const result = { entryId: id, message, call: callOf(), recall: form.recall };
  const output = form.kind === "cleared" ? clearedOutput(result) : trimOutput(result, form.sizes);
  return output === undefined ? message : withOutput(message, output);
}

/** A tool result with the properties for its placeholder. */
export interface PrunableResult {
  entryId: string;
  message: ToolResultMessage;
  call: ToolCallBlock | undefined;
  /** False if the model has no recall tool, which the placeholder otherwise names. */
  recall?: false | undefined;
}

/** The call that the result at `index` answers: one of the last reply before it. */
export function findCall(entries: readonly SessionEntry[], index: number): ToolCallBlock | undefined {
  const result = entries[index];
  if (result?.type !== "message" || result.message.role !== "tool_result") return undefined;
  const { toolCallId } = result.message;
  for (let position = index - 1; position >= 0; position--) {
    const entry = entries[position];
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    return toolCallsOf(entry.message).find(({ id }) => id === toolCallId);
  }
  return undefined;
}

// Reading the length of a compressed output decompresses it.
const clearedTexts = new WeakMap<ToolResultMessage, { text: string; recall: false | undefined }>();

/**
 * The text that replaces a cleared result for the model: its call, its length, and how to read it again. A result that
 * is not longer than that stays.
 */
export function clearedOutput(result: PrunableResult): string {
  const { message, recall } = result;
  const known = clearedTexts.get(message);
  if (known && known.recall === recall) return known.text;
  const placeholder =
    `[Tool output cleared — content was processed in earlier turns. It was the result of ${describeCall(result)}: ` +
    `${message.output.length} characters. To see it again, ${describeRecall(result)}${recall === false ? "" : " or repeat the call"}.]`;
  const text = placeholder.length < message.output.length ? placeholder : message.output;
  clearedTexts.set(message, { text, recall });
  return text;
}

/**
 * Shortens a long output to its beginning and end, with a line between them. Undefined if that would not be shorter. No
 * character is split.
 */
export function trimOutput(result: PrunableResult, sizes: TrimSizes): string | undefined {
  const { output } = result.message;
  if (sizes.head + sizes.tail >= output.length) return undefined;
  const head = output.slice(0, isInsideCharacter(output, sizes.head) ? sizes.head - 1 : sizes.head);
  const tailStart = output.length - sizes.tail;
  const tail = output.slice(isInsideCharacter(output, tailStart) ? tailStart + 1 : tailStart);
  const isRoomForCall = sizes.head + sizes.tail >= LEAST_CHARACTERS_BESIDE_CALL;
  const marker =
    `--- trimmed (kept ${head.length} head + ${tail.length} tail of ${output.length} chars) --- ` +
    (isRoomForCall
      ? `result of ${describeCall(result)}; to see it whole, ${describeRecall(result)}`
      : `whole: ${result.recall === false ? "repeat the call" : `recall ${result.entryId}`}`);
  const trimmed = `${head}\n${marker}\n${tail}`;
  return trimmed.length < output.length ? trimmed : undefined;
}

function describeCall({ message, call }: PrunableResult): string {
  if (!call) return message.toolName;
  const text = call.invalidInput ?? JSON.stringify(call.input);
  const isLong = text.length > SHOWN_ARGUMENT_CHARACTERS;
  const shown = isLong ? `${text.slice(0, SHOWN_ARGUMENT_CHARACTERS).toWellFormed()}…` : text;
  return `${call.name} ${shown}`;
}

function describeRecall({ entryId, recall }: PrunableResult): string {
  return recall === false ? "repeat the call" : `call recall with {"entry":"${entryId}"}`;
}

// A context is built before every request: unchanged messages should be the same objects.
const shortened = new WeakMap<ToolResultMessage, ToolResultMessage>();

/** The result with another output; the same arguments give the same object. */
function withOutput(result: ToolResultMessage, output: string): ToolResultMessage {
  const before = shortened.get(result);
  if (before?.output === output) return before;
  // What a search has found is shown with its text only.
  const { foundTools: _, ...rest } = result;
  const copy = { ...rest, output };
  shortened.set(result, copy);
  return copy;
}

/** True when `position` lies between the two halves of a character. */
function isInsideCharacter(text: string, position: number): boolean {
  return (
    isBetween(text.charCodeAt(position - 1), 0xd800, 0xdbff) &&
    isBetween(text.charCodeAt(position), 0xdc00, 0xdfff)
  );
}

function isBetween(unit: number, first: number, last: number): boolean {
  return unit >= first && unit <= last;
}
