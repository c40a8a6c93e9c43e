import type {
  BranchSummaryEntry,
  CompactionEntry,
  ModelChangeEntry,
  PruneEntry,
  SessionEntry,
} from "../../src/session/types.ts";
import { STAMP } from "./session-files.ts";

/** Entries that change what of a conversation is in the context. */
export function compaction(
  id: string,
  parentId: string | null,
  fields: Partial<CompactionEntry> & Pick<CompactionEntry, "firstKeptEntryId">,
): CompactionEntry {
  const counts = { tokensBefore: 9000, tokensAfter: 1000 };
  return {
    type: "compaction",
    id,
    parentId,
    timestamp: STAMP,
    summary: `summary of ${id}`,
    ...counts,
    ...fields,
  };
}

export function prune(id: string, parentId: string | null, fields: Partial<PruneEntry> = {}): PruneEntry {
  return { type: "prune", id, parentId, timestamp: STAMP, cleared: [], trimmed: [], ...fields };
}

export function branchSummary(id: string, parentId: string | null, summary: string): BranchSummaryEntry {
  return { type: "branch_summary", id, parentId, timestamp: STAMP, fromId: "left0000", summary };
}

export function modelChange(id: string, parentId: string | null, modelId: string): ModelChangeEntry {
  return { type: "model_change", id, parentId, timestamp: STAMP, provider: "anthropic", modelId };
}

/** The same entries one behind the other. */
export function inLine(...entries: readonly SessionEntry[]): SessionEntry[] {
  return entries.map((entry, index) => ({ ...entry, parentId: entries[index - 1]?.id ?? null }));
}
