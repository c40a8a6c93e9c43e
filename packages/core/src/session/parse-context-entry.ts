import type { BranchSummaryEntry, CompactionDetails, CompactionEntry, PruneEntry } from "./types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** An entry's place in the tree, read already. */
type Place = Pick<CompactionEntry, "id" | "parentId" | "timestamp">;

/**
 * A compaction from a session file. What the context is made of has to be right; figures that are not are mended or left
 * out. Undefined without a summary or the entry it goes up to.
 */
export function readCompaction(value: JsonObject, place: Place): CompactionEntry | undefined {
  const { summary, firstKeptEntryId, details, pinnedTokens, ...rest } = value;
  if (typeof summary !== "string" || typeof firstKeptEntryId !== "string") return undefined;
  const files = readDetails(details);
  return {
    ...rest,
    type: "compaction",
    ...place,
    summary,
    firstKeptEntryId,
    tokensBefore: isCount(value.tokensBefore) ? value.tokensBefore : 0,
    tokensAfter: isCount(value.tokensAfter) ? value.tokensAfter : 0,
    ...(files && { details: files }),
    ...(isCount(pinnedTokens) && { pinnedTokens }),
  };
}

/** Undefined without the lists of what was pruned. */
export function readPrune(value: JsonObject, place: Place): PruneEntry | undefined {
  const { cleared, trimmed, trimHead, trimTail, ...rest } = value;
  if (!isTexts(cleared) || !isTexts(trimmed)) return undefined;
  return {
    ...rest,
    type: "prune",
    ...place,
    cleared,
    trimmed,
    ...(isCount(trimHead) && { trimHead }),
    ...(isCount(trimTail) && { trimTail }),
  };
}

/** Undefined without a summary or the end of the branch that it is of. */
export function readBranchSummary(value: JsonObject, place: Place): BranchSummaryEntry | undefined {
  const { fromId, summary } = value;
  if (typeof fromId !== "string" || typeof summary !== "string") return undefined;
  return { ...value, type: "branch_summary", ...place, fromId, summary };
}

/** The file lists as far as they are any: a summary is worth having without them. */
function readDetails(value: unknown): CompactionDetails | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const list = (key: string) => {
    const files = fields.get(key);
    return Array.isArray(files) ? files.filter((file) => typeof file === "string") : [];
  };
  return { ...value, readFiles: list("readFiles"), modifiedFiles: list("modifiedFiles") };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
