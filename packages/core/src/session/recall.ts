import { type Message, messageText, type ToolCallBlock, toolCallsOf } from "../types.ts";
import { contextEntries } from "./context-builder.ts";
import { collectPrunes, findCall } from "./pruned-results.ts";
import type { SessionEntry, SessionMessageEntry } from "./types.ts";
import { withoutUndone } from "./undone-compactions.ts";

/** Filters for the entries outside the context; a filter that is left out matches every entry. */
export interface RecallQuery {
  /** Words that must all occur, ignoring case. */
  query?: string | undefined;
  /** The name of a tool: its calls and their results. */
  tool?: string | undefined;
  /** A path in a call, or the end of one. */
  path?: string | undefined;
  /** At most this many matches; 10 when left out. */
  limit?: number | undefined;
}

/** A message that is shortened or missing in the context. */
export interface RecalledEntry {
  id: string;
  /** ISO 8601. */
  timestamp: string;
  role: Message["role"];
  /** For a tool result: its call. */
  call?: ToolCallBlock | undefined;
  /** The complete text: a message, the arguments of calls, or the output of a tool. */
  text: string;
}

const DEFAULT_LIMIT = 10;

/** Newest first; `isComplete` is false if there are more than the limit. */
export interface RecallMatches {
  matches: RecalledEntry[];
  isComplete: boolean;
}

/**
 * The matching entries outside the context.
 * @param branch the entries of one branch from its root on.
 */
export function searchHiddenEntries(
  branch: readonly SessionEntry[],
  { query = "", tool, path: file, limit = DEFAULT_LIMIT }: RecallQuery,
): RecallMatches {
  const path = withoutUndone(branch);
  const toolName = tool?.toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches: RecalledEntry[] = [];
  for (const index of hiddenPositions(path)) {
    const entry = path[index];
    if (entry?.type !== "message") continue;
    const call = findCachedCall(path, index, entry);
    if (toolName !== undefined && !callsNaming(entry, call).some((each) => isNamed(each, toolName))) continue;
    if (file !== undefined && !callsNaming(entry, call).some((each) => namesPath(each, file))) continue;
    if (!containsAll(entry, call, words)) continue;
    if (matches.length === limit) return { matches, isComplete: false };
    matches.push(toRecalledEntry(entry, call));
  }
  return { matches, isComplete: true };
}

/** The complete entry with this id, or with the only id that starts with it; undefined if there is none. */
export function readEntry(entries: readonly SessionEntry[], id: string): RecalledEntry | undefined {
  const found = entries.flatMap((entry, index) => (entry.id.startsWith(id) ? [index] : []));
  const [index = -1] = found;
  const entry = entries[index];
  if (found.length !== 1 || entry?.type !== "message") return undefined;
  return toRecalledEntry(entry, findCall(entries, index));
}

/** Newest first. */
function* hiddenPositions(path: readonly SessionEntry[]): Generator<number> {
  const { summarized } = contextEntries(path);
  const pruned = collectPrunes(path, summarized.length);
  for (let index = path.length - 1; index >= summarized.length; index--) {
    if (pruned.has(path[index]?.id ?? "")) yield index;
  }
  for (let index = summarized.length - 1; index >= 0; index--) yield index;
}

function toRecalledEntry(
  { id, timestamp, message }: SessionMessageEntry,
  call: ToolCallBlock | undefined,
): RecalledEntry {
  return { id, timestamp, role: message.role, text: recalledText(message), ...(call && { call }) };
}

/** All text of a message: what was said, the arguments of calls, or the output of a tool. */
export function recalledText(message: Message): string {
  if (message.role === "tool_result") return message.output;
  if (message.role === "user") return messageText(message);
  const calls = toolCallsOf(message).map(({ name, input }) => `${name} ${JSON.stringify(input)}`);
  return [messageText(message), ...calls].filter((text) => text !== "").join("\n");
}

// Messages never change, so each is read once; later searches only read those that may match.
const signatures = new WeakMap<Message, TextSignature>();

function containsAll(
  { message }: SessionMessageEntry,
  call: ToolCallBlock | undefined,
  words: readonly string[],
): boolean {
  if (words.length === 0) return true;
  const known = signatures.get(message);
  if (known && !words.every((word) => mayContain(known, word))) return false;
  const searched = searchedText(message, call);
  if (!known) signatures.set(message, createSignature(searched));
  return words.every((word) => searched.includes(word));
}

function searchedText(message: Message, call: ToolCallBlock | undefined): string {
  const text = recalledText(message);
  return (call ? `${call.name} ${JSON.stringify(call.input)}\n${text}` : text).toLowerCase();
}

function callsNaming(
  { message }: SessionMessageEntry,
  call: ToolCallBlock | undefined,
): readonly ToolCallBlock[] {
  if (message.role === "assistant") return toolCallsOf(message);
  return call ? [call] : [];
}

function isNamed({ name }: ToolCallBlock, toolName: string): boolean {
  return name === toolName || name.toLowerCase() === toolName;
}

// Looking for the call of each of thousands of results takes longer than comparing it.
const knownCalls = new WeakMap<SessionMessageEntry, { call: ToolCallBlock | undefined }>();

function findCachedCall(
  path: readonly SessionEntry[],
  index: number,
  entry: SessionMessageEntry,
): ToolCallBlock | undefined {
  if (entry.message.role !== "tool_result") return undefined;
  let known = knownCalls.get(entry);
  if (!known) {
    known = { call: findCall(path, index) };
    knownCalls.set(entry, known);
  }
  return known.call;
}

function namesPath({ input }: ToolCallBlock, file: string): boolean {
  return Object.values(input).some((value) => {
    if (typeof value !== "string") return false;
    return value === file || value.endsWith(`/${file}`) || file.endsWith(`/${value}`) || value.includes(file);
  });
}

// A long session has hundreds of megabytes of text, most of it compressed in memory: a signature of each message shows
// that a word is not in it, without decompressing it.

// About a quarter of the bits are set then, so few messages are decompressed needlessly, even for short words.
const BITS_PER_CHARACTER = 2;
const MIN_BITS = 256;
// 8 KB; nearly every short word may occur in a longer text.
const MAX_BITS = 65_536;
const WORD_BITS = 32;
const GRAM = 4;

/** The groups of four characters of a text, as a set that may contain additional groups but never lacks one. */
export type TextSignature = Uint32Array;

/** @param text in lower case. */
export function createSignature(text: string): TextSignature {
  const wanted = Math.min(MAX_BITS, Math.max(MIN_BITS, text.length * BITS_PER_CHARACTER));
  const bits = 2 ** Math.ceil(Math.log2(wanted));
  const signature = new Uint32Array(bits / WORD_BITS);
  for (let index = 0; index + GRAM <= text.length; index++) {
    const bit = hashAt(text, index) & (bits - 1);
    signature[bit >>> 5] = (signature[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  return signature;
}

/** False only if the word, in lower case, is certainly not in the text. */
export function mayContain(signature: TextSignature, word: string): boolean {
  const bits = signature.length * WORD_BITS;
  for (let index = 0; index + GRAM <= word.length; index++) {
    const bit = hashAt(word, index) & (bits - 1);
    if (((signature[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

function hashAt(text: string, index: number): number {
  const first = text.charCodeAt(index) * 0x1f_3d + text.charCodeAt(index + 1);
  const second = text.charCodeAt(index + 2) * 0x1f_3d + text.charCodeAt(index + 3);
  return Math.imul(Math.imul(first, 0x9e37_79b1) + second, 0x85eb_ca6b) >>> 12;
}
