import type { Model } from "../provider/types.ts";
import type { Usage } from "../types.ts";
import { extractFileOperations, formatFileOperations } from "./compaction/file-operations.ts";
import { summarize } from "./compaction/summarize.ts";
import type { Summarizer } from "./context/context-guard.ts";
import { messagesOf } from "./context-builder.ts";
import { contextEntries } from "./context-entries.ts";
import type { SessionEntry } from "./types.ts";

// A long list of files says little in a conversation that goes on without them.
const MAX_FILE_CHARACTERS = 8_000;

/** Who summarises which part of a branch. */
export interface BranchSummaryOptions extends Summarizer {
  /** Those of its entries that are out of sight from then on. */
  left: readonly SessionEntry[];
  signal?: AbortSignal | undefined;
  /** Called for each request with what it has cost. */
  onUsage?: ((usage: Usage, model: Model) => void) | undefined;
}

/** `summary` has the lists of files behind it. */
export interface MadeBranchSummary {
  summary: string;
  /** Why it was made by program and not by the model. */
  failure?: string | undefined;
}

/**
 * What happened on a branch that is left, in the form of every other summary, with the files it touched.
 * @param path of the branch, from the root on.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarizeBranch(
  path: readonly SessionEntry[],
  { left, model, streamFunction, signal, onUsage }: BranchSummaryOptions,
): Promise<MadeBranchSummary> {
  const { summary: compaction, kept } = contextEntries(path);
  const previous = compaction && left.includes(compaction) ? compaction : undefined;
  const isLeft = new Set(left);
  const messages = messagesOf(kept.filter((entry) => isLeft.has(entry)));
  const { summary, failure } = await summarize(messages, {
    model,
    streamFunction,
    previousSummary: previous?.summary,
    signal,
    onUsage: (usage) => onUsage?.(usage, model),
  });
  const files = extractFileOperations(messages, previous?.details);
  return {
    summary: summary + formatFileOperations(files, { maxCharacters: MAX_FILE_CHARACTERS }),
    failure,
  };
}
