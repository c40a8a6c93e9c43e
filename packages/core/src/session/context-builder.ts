import { toSendableHistory } from "../history.ts";
import { packText } from "../infrastructure/text/unicode.ts";
import { assertNever, type Message, type ToolResultMessage } from "../types.ts";
import { pathTo } from "./tree.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry, SessionMessageEntry } from "./types.ts";

/** The context that a model gets of a session, and the model used last. */
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
 * The conversation that ends in `leafId` (the last entry when left out), as messages a provider accepts: the entries
 * from the root to the leaf; after a compaction its summary, what it kept, and what follows it. Pruned results are
 * shortened, and a turn that was cut off gets the results its calls lack.
 */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
): SessionContext {
  return buildPathContext(pathTo(entries, leafId));
}

/** The same for a branch whose entries were found already. */
export function buildPathContext(path: readonly SessionEntry[]): SessionContext {
  const messages = toSendableHistory(contextMessages(path).map(({ message }) => message));
  const change = path.findLast((entry) => entry.type === "model_change");
  if (!change) return { messages };
  return { messages, currentModel: { provider: change.provider, modelId: change.modelId } };
}

/**
 * The messages of the context in order, the summary first where there is one. Unchanged messages are the same
 * objects as in the previous call.
 * @param path the entries of one branch from its root on, as `pathTo` finds them.
 */
export function contextMessages(path: readonly SessionEntry[]): ContextMessage[] {
  const { summary, summarized, kept } = contextEntries(path);
  // In a long session nearly all of it is summarized, and this is called several times per request.
  const forms = collectPrunes(path, summarized.length);
  return [
    ...(summary ? [{ entry: summary, message: summaries().toSummaryMessage(summary, summarized) }] : []),
    ...kept.map((entry) => ({ entry, message: toMessage(entry, forms) })),
  ];
}

/** The message for the model of an entry, except for entries that replace others; results are not shortened. */
export function messagesOf(entries: readonly SessionEntry[]): Message[] {
  return entries.flatMap((entry) => {
    if (entry.type === "branch_summary") return [summaries().toBranchSummaryMessage(entry)];
    return entry.type === "message" ? [entry.message] : [];
  });
}

function toMessage(entry: ContextEntry, forms: PrunedForms): Message {
  return entry.type === "message" ? applyPrunes(entry, forms) : summaries().toBranchSummaryMessage(entry);
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
   * Where in `kept` the requests began that were made with this same context and model. The usage of an answer before
   * it is that of another request.
   */
  usageFrom: number;
}

/** @param path the entries of one branch from its root on, as `pathTo` finds them. */
export function contextEntries(path: readonly SessionEntry[]): ContextEntries {
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

/** The position of the first kept entry, or that of the compaction itself when nothing is known to be kept. */
function findFirstKept(path: readonly SessionEntry[], at: number, firstKeptEntryId: string): number {
  // It lies near the end: the search from there is short.
  const findBefore = (isMeant: (entry: SessionEntry) => boolean) => {
    for (let position = at - 1; position >= 0; position--) {
      const entry = path[position];
      if (entry && isMeant(entry)) return position;
    }
    return undefined;
  };
  // Its own line may be damaged: the following one still names it then.
  return (
    findBefore(({ id }) => id === firstKeptEntryId) ??
    findBefore(({ parentId }) => parentId === firstKeptEntryId) ??
    at
  );
}

function isInContext(entry: SessionEntry): entry is ContextEntry {
  switch (entry.type) {
    case "message":
    case "branch_summary":
      return true;
    case "compaction":
    case "prune":
    case "model_change":
    case "session_info":
    case "label":
    case "settings":
    case "archive":
    case "custom":
    case "unknown":
      return false;
    default:
      return assertNever(entry);
  }
}

function changesRequests({ type }: SessionEntry): boolean {
  return type === "compaction" || type === "prune" || type === "model_change";
}

/** The default of the compaction plan, for an entry without this value. */
const DEFAULT_TRIM_CHARS = 1_500;

/** How each pruned result is shown, by the id of its entry. */
type PrunedForms = ReadonlyMap<string, "cleared" | TrimSizes>;

/**
 * Combines the prune entries of a branch: the latest sizes apply, and cleared results stay cleared. @param from the
 * position of the first relevant result: entries that prune it come after it.
 */
function collectPrunes(path: readonly SessionEntry[], from = 0): PrunedForms {
  const forms = new Map<string, "cleared" | TrimSizes>();
  for (let position = from; position < path.length; position++) {
    const entry = path[position];
    if (entry?.type !== "prune") continue;
    const {
      cleared,
      trimmed,
      trimHead: head = DEFAULT_TRIM_CHARS,
      trimTail: tail = DEFAULT_TRIM_CHARS,
    } = entry;
    for (const id of trimmed) if (forms.get(id) !== "cleared") forms.set(id, { head, tail });
    for (const id of cleared) forms.set(id, "cleared");
  }
  return forms;
}

/** The entry's message as the model sees it: only results without images are ever shortened. */
function applyPrunes({ id, message }: SessionMessageEntry, forms: PrunedForms): Message {
  const form = forms.get(id);
  if (form === undefined || message.role !== "tool_result" || message.images?.length) return message;
  const output = form === "cleared" ? CLEARED_OUTPUT : trimOutput(message.output, form);
  return output === undefined ? message : withOutput(message, output);
}

/** The text a model reads in place of a cleared result. */
export const CLEARED_OUTPUT = "[Tool output cleared — content was processed in earlier turns]";

/** Characters kept of a trimmed result. */
interface TrimSizes {
  head: number;
  tail: number;
}

/**
 * Shortens a long output to its beginning and end, with a line between them that says so. Undefined if that would
 * not be shorter. No character is split.
 */
export function trimOutput(output: string, sizes: TrimSizes): string | undefined {
  if (sizes.head + sizes.tail >= output.length) return undefined;
  const head = output.slice(0, isInsideCharacter(output, sizes.head) ? sizes.head - 1 : sizes.head);
  const tailStart = output.length - sizes.tail;
  const tail = output.slice(isInsideCharacter(output, tailStart) ? tailStart + 1 : tailStart);
  const marker = `--- trimmed (kept ${head.length} head + ${tail.length} tail of ${output.length} chars) ---`;
  const trimmed = `${head}\n${marker}\n${tail}`;
  return trimmed.length < output.length ? trimmed : undefined;
}

// A context is built before every request: unchanged messages should be the same objects.
const shortened = new WeakMap<ToolResultMessage, ToolResultMessage>();

/** The result with another output; the same arguments give the same object. */
function withOutput(result: ToolResultMessage, output: string): ToolResultMessage {
  const before = shortened.get(result);
  if (before?.output === output) return before;
  const copy = { ...result, output };
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

// Shorter texts cost little, and a compressed text has an overhead.
const LEAST_CHARACTERS = 4_096;

const packed = new WeakSet<ToolResultMessage>();

/**
 * Compresses the outputs of tool results that no request contains any more: they were summarized or cleared. They
 * can be read as before, only slower, when the conversation is viewed, exported or its file rewritten.
 * @param path the entries of one branch from its root on.
 */
export function packUnsentOutputs(path: readonly SessionEntry[]): void {
  const { summarized, kept } = contextEntries(path);
  const forms = collectPrunes(path);
  for (const entry of summarized) packOutput(entry);
  for (const entry of kept) if (forms.get(entry.id) === "cleared") packOutput(entry);
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
