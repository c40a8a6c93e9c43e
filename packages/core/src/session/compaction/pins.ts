import type { PinnedMessage } from "../context-builder.ts";
import { findMessages } from "../context-builder.ts";
import { entriesOfType } from "../entries-by-type.ts";
import type { SessionLog } from "../log.ts";
import { recalledText } from "../recall.ts";
import type { PinnedMessages, PinOutcome, SessionEntry } from "../types.ts";
import { findFreeTag, wrapInTag } from "./cut-point.ts";
import { CHARACTERS_PER_TOKEN } from "./tokens.ts";

const TITLE = "## Pinned\nMessages that the user pinned, verbatim, each after its entry id.";

// Enough to recognize a call by a path or a command.
const SHOWN_ARGUMENT_CHARACTERS = 200;

/** The section with pinned messages, verbatim and in order. Each is in a tag that occurs in none of them. */
export function formatPins(pins: readonly PinnedMessage[]): string {
  const texts = pins.map(textOf);
  const tag = findFreeTag(texts, "pinned-message");
  return [TITLE, ...texts.map((text) => wrapInTag(tag, text))].join("\n\n");
}

/** Tokens of a pinned message in that section, at four characters each. */
export function countPinTokens(pins: readonly PinnedMessage[]): number {
  return pins.length === 0 ? 0 : Math.ceil(formatPins(pins).length / CHARACTERS_PER_TOKEN);
}

function textOf({ entry: { id, message }, call }: PinnedMessage): string {
  return `[${id}] ${describeSource({ message, call })}\n${recalledText(message)}`;
}

function describeSource({
  message,
  call,
}: Pick<PinnedMessage, "call"> & Pick<PinnedMessage["entry"], "message">) {
  if (message.role !== "tool_result") return message.role;
  if (!call) return `result of ${message.toolName}`;
  const input = call.invalidInput ?? JSON.stringify(call.input);
  const isLong = input.length > SHOWN_ARGUMENT_CHARACTERS;
  return `result of ${call.name} ${isLong ? `${input.slice(0, SHOWN_ARGUMENT_CHARACTERS).toWellFormed()}…` : input}`;
}

/** The ids of the messages that are pinned; the last entry about a message counts, whatever branch it is on. */
export function readPins(entries: readonly SessionEntry[]): ReadonlySet<string> {
  const pinned = new Set<string>();
  for (const entry of entriesOfType(entries, "pin")) {
    // Pinned again, it is the newest.
    pinned.delete(entry.targetId);
    if (entry.pinned) pinned.add(entry.targetId);
  }
  return pinned;
}

/** The pinned messages of the conversation. */
export function listPins(log: SessionLog, maxTokens: number): PinnedMessages {
  const pins = findMessages(log.path(), [...readPins(log.entries)]);
  return { entries: pins.map(({ entry }) => entry), tokens: countPinTokens(pins), maxTokens };
}

/**
 * Pins a message unless all pinned ones together would take more than `maxTokens`.
 * @throws Error when the conversation has no message with this id, or when it has no text.
 */
export function pinMessage(log: SessionLog, targetId: string, maxTokens: number): PinOutcome {
  const [wanted] = findMessages(log.path(), [targetId]);
  if (!wanted) throw new Error(`This conversation has no message ${targetId}.`);
  if (recalledText(wanted.entry.message).trim() === "")
    throw new Error("A message without text cannot be pinned.");
  const pinned = readPins(log.entries);
  const before = findMessages(
    log.path(),
    [...pinned].filter((id) => id !== targetId),
  );
  const size = { tokens: countPinTokens([wanted]), maxTokens };
  const total = countPinTokens([...before, wanted]);
  if (total > maxTokens) return { kind: "too_long", ...size, total: countPinTokens(before) };
  if (!pinned.has(targetId)) log.annotate((place) => ({ type: "pin", ...place, targetId, pinned: true }));
  return { kind: "pinned", ...size, total };
}

/** Unpins a message; nothing if it is not pinned. It stays in requests until the next summary. */
export function unpinMessage(log: SessionLog, targetId: string): void {
  if (!readPins(log.entries).has(targetId)) return;
  log.annotate((place) => ({ type: "pin", ...place, targetId, pinned: false }));
}

/** The pinned messages for a summary, and the number of those that do not fit; the newest pins are left out first. */
export function choosePins(
  pins: readonly PinnedMessage[],
  { order, maxTokens }: { order: ReadonlySet<string>; maxTokens: number },
): { chosen: PinnedMessage[]; leftOut: number } {
  const ranks = [...order];
  const byAge = pins.toSorted((left, right) => ranks.indexOf(left.entry.id) - ranks.indexOf(right.entry.id));
  const fitting = new Set<PinnedMessage>();
  for (const pin of byAge) if (countPinTokens([...fitting, pin]) <= maxTokens) fitting.add(pin);
  return { chosen: pins.filter((pin) => fitting.has(pin)), leftOut: pins.length - fitting.size };
}
