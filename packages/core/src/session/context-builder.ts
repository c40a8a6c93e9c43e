import { toSendableHistory } from "../history.ts";
import type { Message } from "../types.ts";
import { type ContextEntry, contextEntries } from "./context-entries.ts";
import { applyPrunes, collectPrunes, type PrunedForms } from "./pruning/apply-prunes.ts";
import { pathTo } from "./session-tree.ts";
import type { CompactionEntry, SessionEntry } from "./types.ts";

/** What a model is told of a session, and which model it was last held with. */
export interface SessionContext {
  messages: Message[];
  currentModel?: { provider: string; modelId: string };
}

/** A message of the context with the entry that it comes from. */
export interface ContextMessage {
  entry: CompactionEntry | ContextEntry;
  /** As it is sent, but for what `toSendableHistory` mends. */
  message: Message;
}

/**
 * The conversation that ends in `leafId` (the last entry when left out), as messages a provider accepts: the entries
 * from the root to the leaf; behind a compaction its summary, what it kept, and what follows it. Pruned results are
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
 * The messages of the context in order, the summary first where there is one. What has not changed since it was asked
 * for last is the same object.
 * @param path the entries of one branch from its root on, as `pathTo` finds them.
 */
export function contextMessages(path: readonly SessionEntry[]): ContextMessage[] {
  const { summary, summarized, kept } = contextEntries(path);
  // In a long session nearly all of it is summarized, and this is asked for several times a request.
  const forms = collectPrunes(path, summarized.length);
  return [
    ...(summary ? [{ entry: summary, message: summaries().toSummaryMessage(summary, summarized) }] : []),
    ...kept.map((entry) => ({ entry, message: toMessage(entry, forms) })),
  ];
}

/** What entries tell a model, those aside that stand for others; no result is shortened. */
export function messagesOf(entries: readonly SessionEntry[]): Message[] {
  return entries.flatMap((entry) => {
    if (entry.type === "branch_summary") return [summaries().toBranchSummaryMessage(entry)];
    return entry.type === "message" ? [entry.message] : [];
  });
}

function toMessage(entry: ContextEntry, forms: PrunedForms): Message {
  return entry.type === "message" ? applyPrunes(entry, forms) : summaries().toBranchSummaryMessage(entry);
}

/** How summaries are told: loaded with the first one, at once, since a context is no promise. Most conversations have none. */
function summaries(): typeof import("./summary-message.ts") {
  return require("./summary-message.ts");
}
