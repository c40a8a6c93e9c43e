import { assertNever } from "../types.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry, SessionMessageEntry } from "./types.ts";

/** An entry that stands in the context as one message. */
export type ContextEntry = SessionMessageEntry | BranchSummaryEntry;

/** What of a conversation is in the context. */
export interface ContextEntries {
  /** The compaction whose summary stands first; the latest one. */
  summary?: CompactionEntry;
  /** The entries that the summary stands for, those of earlier compactions included. */
  summarized: readonly SessionEntry[];
  /** What follows the summary, in order. */
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
  // It lies near the end: whoever begins there has not far to look.
  const findBefore = (isMeant: (entry: SessionEntry) => boolean) => {
    for (let position = at - 1; position >= 0; position--) {
      const entry = path[position];
      if (entry && isMeant(entry)) return position;
    }
    return undefined;
  };
  // Its own line may be damaged: then the one that follows it still names it.
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
    case "unknown":
      return false;
    default:
      return assertNever(entry);
  }
}

function changesRequests({ type }: SessionEntry): boolean {
  return type === "compaction" || type === "prune" || type === "model_change";
}
