import { toSendableHistory } from "../history.ts";
import { packText } from "../infrastructure/text/unicode.ts";
import { type Message, type ToolCallBlock, type ToolResultMessage, toolCallsOf } from "../types.ts";
import { lastOfType } from "./entries-by-type.ts";
import { applyPrunes, collectPrunes, findCall, type PrunedForms } from "./pruned-results.ts";
import { pathTo } from "./tree.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry, SessionMessageEntry } from "./types.ts";
import { withoutUndone } from "./undone-compactions.ts";

/** The context of a session for a model, and the model used last. */
export interface SessionContext {
  messages: Message[];
  currentModel?: { provider: string; modelId: string };
}

/** A message of the context with its entry. */
export interface ContextMessage {
  entry: CompactionEntry | ContextEntry;
  /** The message as it is sent, before the fixes of `toSendableHistory`. */
  message: Message;
}

/**
 * The conversation that ends in `leafId` (the last entry when left out), as messages that a provider accepts: the
 * entries from the root to the leaf; after a compaction its summary, the entries it kept, and those after it. Pruned
 * results are shortened, and an interrupted turn gets the missing results of its calls.
 */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
): SessionContext {
  return buildPathContext(pathTo(entries, leafId));
}

/** The context of a branch whose entries were found already. */
export function buildPathContext(path: readonly SessionEntry[]): SessionContext {
  const messages = toSendableHistory(contextMessages(path).map(({ message }) => message));
  const change = lastOfType(path, "model_change");
  if (!change) return { messages };
  return { messages, currentModel: { provider: change.provider, modelId: change.modelId } };
}

/**
 * The messages of the context in order, starting with the summary if there is one. Unchanged messages are the same
 * objects as in the previous call.
 * @param path the entries of one branch from its root on, from `pathTo`.
 */
export function contextMessages(path: readonly SessionEntry[]): ContextMessage[] {
  const conversation = withoutUndone(path);
  const { summary, summarized, kept } = contextEntries(conversation);
  // In a long session nearly all of it is summarized, and this is called several times per request.
  const forms = collectPrunes(conversation, summarized.length);
  const toSummary = (entry: CompactionEntry) => {
    const pinned = entry.pinnedEntryIds ? findMessages(conversation, entry.pinnedEntryIds) : [];
    return summaries().toSummaryMessage(entry, summarized, pinned);
  };
  return [
    ...(summary ? [{ entry: summary, message: toSummary(summary) }] : []),
    ...kept.map((entry, index) => ({ entry, message: toMessage(entry, { kept, index, forms }) })),
  ];
}

/** A message entry with the call that it answers, if it is a result. */
export interface PinnedMessage {
  entry: SessionMessageEntry;
  call: ToolCallBlock | undefined;
}

/** The messages with these ids, in the order of the conversation. */
export function findMessages(
  conversation: readonly SessionEntry[],
  entryIds: readonly string[],
): PinnedMessage[] {
  if (entryIds.length === 0) return [];
  const wanted = new Set(entryIds);
  return conversation.flatMap((entry, index) =>
    entry.type === "message" && wanted.has(entry.id) ? [{ entry, call: findCall(conversation, index) }] : [],
  );
}

/** The message for the model of an entry, except for entries that replace others; results are not shortened. */
export function messagesOf(entries: readonly SessionEntry[]): Message[] {
  return entries.flatMap((entry) => {
    if (entry.type === "branch_summary") return [summaries().toBranchSummaryMessage(entry)];
    return entry.type === "message" ? [entry.message] : [];
  });
}

function toMessage(
  entry: ContextEntry,
  { kept, index, forms }: { kept: readonly ContextEntry[]; index: number; forms: PrunedForms },
): Message {
  if (entry.type === "branch_summary") return summaries().toBranchSummaryMessage(entry);
  return applyPrunes(entry, forms, () => findCall(kept, index));
}

/**
 * Formats summaries: loaded with the first one, synchronously, since a context is not a promise. Most conversations
 * have none.
 */
function summaries(): typeof import("./summary-message.ts") {
  return require("./summary-message.ts");
}

/** An entry that is one message of the context. */
type ContextEntry = SessionMessageEntry | BranchSummaryEntry;

/** The part of a conversation that is in the context. */
interface ContextEntries {
  /** The compaction whose summary comes first; the latest one. */
  summary?: CompactionEntry;
  /** The entries that the summary replaces, including those of earlier compactions. */
  summarized: readonly SessionEntry[];
  /** The entries after the summary, in order. */
  kept: ContextEntry[];
  /**
   * The index in `kept` from which on requests used this same context and model. The usage of an earlier answer belongs
   * to another request.
   */
  usageFrom: number;
}

/** @param branch the entries of one branch from its root on, from `pathTo`. */
export function contextEntries(branch: readonly SessionEntry[]): ContextEntries {
  const path = withoutUndone(branch);
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const compaction = path[at];
  const isCompacted = compaction?.type === "compaction";
  const start = isCompacted ? findFirstKept(path, at, compaction.firstKeptEntryId) : 0;
  const changedAt = path.findLastIndex(changesRequests);
  const kept: ContextEntry[] = [];
  let usageFrom = 0;
  for (let position = start; position < path.length; position++) {
    const entry = path[position];
    if (entry && isInContext(entry)) kept.push(entry);
    if (position === changedAt) usageFrom = kept.length;
  }
  return { ...(isCompacted && { summary: compaction }), summarized: path.slice(0, start), kept, usageFrom };
}

/** The position of the first kept entry, or that of the compaction itself when no kept entry is known. */
function findFirstKept(path: readonly SessionEntry[], at: number, firstKeptEntryId: string): number {
  // It is near the end: the search from there is short.
  const findBefore = (matches: (entry: SessionEntry) => boolean) => {
    for (let position = at - 1; position >= 0; position--) {
      const entry = path[position];
      if (entry && matches(entry)) return position;
    }
    return undefined;
  };
  // Its own line may be damaged; the following entry still names it as its parent.
  return (
    findBefore(({ id }) => id === firstKeptEntryId) ??
    findBefore(({ parentId }) => parentId === firstKeptEntryId) ??
    at
  );
}

function isInContext(entry: SessionEntry): entry is ContextEntry {
  return entry.type === "message" || entry.type === "branch_summary";
}

/** True for an entry after which requests differ in more than added messages, so that earlier usage does not apply. */
export function changesRequests({ type }: SessionEntry): boolean {
  return type === "compaction" || type === "compaction_undo" || type === "prune" || type === "model_change";
}

/** The name of the tool that reads what the context leaves out. */
export const RECALL_TOOL = "recall";

/**
 * True if the context leaves out or shortens messages of the conversation, or if one calls the tool for that: a
 * provider may refuse a call of a tool that is no longer offered.
 * @param conversation the entries of one branch, from `withoutUndone`.
 */
export function hidesEntries(conversation: readonly SessionEntry[]): boolean {
  if (conversation.some(({ type }) => type === "compaction" || type === "prune")) return true;
  if (!conversation.some(({ type }) => type === "compaction_undo")) return false;
  return conversation.some(
    (entry) =>
      entry.type === "message" &&
      entry.message.role === "assistant" &&
      toolCallsOf(entry.message).some(({ name }) => name === RECALL_TOOL),
  );
}

// Compressing a shorter text saves little.
const LEAST_CHARACTERS = 4_096;

const packed = new WeakSet<ToolResultMessage>();

/**
 * Compresses the outputs of tool results that are no longer part of requests: they were summarized or cleared. They can
 * still be read, only more slowly, when the conversation is viewed, exported or its file rewritten.
 * @param path the entries of one branch from its root on.
 */
export function packUnsentOutputs(path: readonly SessionEntry[]): void {
  const { summarized, kept } = contextEntries(path);
  const forms = collectPrunes(withoutUndone(path));
  for (const entry of summarized) packOutput(entry);
  for (const entry of kept) if (forms.get(entry.id)?.kind === "cleared") packOutput(entry);
}

function packOutput(entry: SessionEntry): void {
  if (entry.type !== "message" || entry.message.role !== "tool_result" || packed.has(entry.message)) return;
  const { message } = entry;
  packed.add(message);
  if (message.output.length < LEAST_CHARACTERS) return;
  const text = packText(message.output);
  if (text === undefined) return;
  Object.defineProperty(message, "output", { get: text.read, enumerable: true, configurable: true });
}
