import type { Message } from "../../types.ts";
import { contextEntries } from "../context-entries.ts";
import type { SessionEntry } from "../types.ts";
import { CHARACTERS_PER_TOKEN, countCharacters } from "./estimate-tokens.ts";
import { pairCalls } from "./pair-calls.ts";

/** A path of entries in two: what a summary is to replace, and what stays. Indices are those of the path. */
export interface CutPointResult {
  /** The first entry to keep: a user message, or an assistant message where a turn is split. */
  firstKeptIndex: number;
  /** From what the last compaction kept on; without the compaction itself. Empty when nothing is to be summarised. */
  entriesToSummarize: SessionEntry[];
  entriesToKeep: SessionEntry[];
  /** The first kept entry is in the middle of a turn, whose beginning is summarised. */
  isSplitTurn: boolean;
  /**
   * Where the split turn begins: at its user message, or with the first entry to summarise where an earlier compaction
   * has taken that. Undefined when no turn is split.
   */
  turnStartIndex: number | undefined;
}

/**
 * Where to cut a conversation so that about `keepRecentTokens` of its end stay: at the nearest user message at or behind
 * the entry with which they are exceeded. Where none follows, since the last turn is larger by itself, at the nearest
 * assistant message, else at the last place before that can be cut; so the last assistant message always stays, with
 * its results. A call is never parted from its result, whatever stands between them. A conversation that fits is kept
 * whole.
 * @param pathEntries the entries of one branch from its root on.
 */
export function findCutPoint(pathEntries: readonly SessionEntry[], keepRecentTokens: number): CutPointResult {
  const start = contextEntries(pathEntries).summarized.length;
  const limit = findLimit(pathEntries, { start, keepRecentTokens });
  const cut = limit === undefined ? undefined : chooseCut(pathEntries, { start, limit });
  if (cut === undefined) return keepAll(pathEntries, start);
  const isSplitTurn = roleOf(pathEntries[cut]) !== "user";
  return {
    firstKeptIndex: cut,
    entriesToSummarize: withoutCompactions(pathEntries.slice(start, cut)),
    entriesToKeep: withoutCompactions(pathEntries.slice(cut)),
    isSplitTurn,
    turnStartIndex: isSplitTurn ? findTurnStart(pathEntries, start, cut) : undefined,
  };
}

function keepAll(entries: readonly SessionEntry[], start: number): CutPointResult {
  const first = entries.findIndex(({ type }, index) => index >= start && type !== "compaction");
  return {
    firstKeptIndex: first < 0 ? entries.length : first,
    entriesToSummarize: [],
    entriesToKeep: withoutCompactions(entries.slice(start)),
    isSplitTurn: false,
    turnStartIndex: undefined,
  };
}

/** The entry with which the newest ones exceed `keepRecentTokens`; undefined when all of them fit. */
function findLimit(
  entries: readonly SessionEntry[],
  { start, keepRecentTokens }: { start: number; keepRecentTokens: number },
): number | undefined {
  let characters = 0;
  for (let index = entries.length - 1; index >= start; index--) {
    characters += countEntry(entries[index]);
    if (characters > 0 && Math.ceil(characters / CHARACTERS_PER_TOKEN) > keepRecentTokens) return index;
  }
  return undefined;
}

function chooseCut(
  entries: readonly SessionEntry[],
  { start, limit }: { start: number; limit: number },
): number | undefined {
  const isInsideCall = markInsideCalls(entries, start);
  const canBeCut = (index: number, role: Message["role"]) =>
    !isInsideCall[index] && roleOf(entries[index]) === role;
  // In front of the first message there is nothing to summarise.
  let first = start;
  while (first < limit && messageOf(entries[first]) === undefined) first++;
  let firstAssistant: number | undefined;
  for (let index = Math.max(limit, first + 1); index < entries.length; index++) {
    if (canBeCut(index, "user")) return index;
    if (canBeCut(index, "assistant")) firstAssistant ??= index;
  }
  if (firstAssistant !== undefined) return firstAssistant;
  for (let index = limit - 1; index > first; index--) {
    if (canBeCut(index, "user") || canBeCut(index, "assistant")) return index;
  }
  return undefined;
}

/** 1 for every entry that cannot be the first kept one, since it would part a call from its result. */
function markInsideCalls(entries: readonly SessionEntry[], start: number): Uint8Array {
  const inside = new Uint8Array(entries.length);
  const messages = entries.map((entry, index) => (index < start ? undefined : messageOf(entry)));
  for (const { callIndex, resultIndex } of pairCalls(messages))
    inside.fill(1, callIndex + 1, resultIndex + 1);
  return inside;
}

function findTurnStart(entries: readonly SessionEntry[], start: number, cut: number): number {
  for (let index = cut - 1; index >= start; index--) if (roleOf(entries[index]) === "user") return index;
  return keepAll(entries, start).firstKeptIndex;
}

function countEntry(entry: SessionEntry | undefined): number {
  if (entry?.type === "branch_summary") return entry.summary.length;
  return entry?.type === "message" ? countCharacters(entry.message) : 0;
}

function withoutCompactions(entries: readonly SessionEntry[]): SessionEntry[] {
  return entries.filter(({ type }) => type !== "compaction");
}

function roleOf(entry: SessionEntry | undefined): Message["role"] | undefined {
  return messageOf(entry)?.role;
}

function messageOf(entry: SessionEntry | undefined): Message | undefined {
  return entry?.type === "message" ? entry.message : undefined;
}
