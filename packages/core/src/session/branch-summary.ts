import type { AgentEvent } from "../agent/types.ts";
import type { Model } from "../provider/types.ts";
import type { Usage } from "../types.ts";
import { extractFileOperations, type FileBase, formatFileOperations } from "./compaction/cut-point.ts";
import { type SummarizerChoice, summarizeByLadder } from "./compaction/summarize.ts";
import { assessSummary, summaryWarnings } from "./compaction/summary-validation.ts";
import { contextEntries, messagesOf } from "./context-builder.ts";
import type { SessionEntry } from "./types.ts";

// A long list of files says little in a conversation that continues without them.
const MAX_FILE_CHARACTERS = 8_000;

/** Who summarizes which part of a branch. */
interface BranchSummaryOptions extends SummarizerChoice {
  /** The branch's entries that are no longer part of the conversation. */
  left: readonly SessionEntry[];
  /** The base of relative paths in tool calls. */
  fileBase?: FileBase | undefined;
  signal?: AbortSignal | undefined;
  /** Called for each request with what it has cost. */
  onUsage?: ((usage: Usage, model: Model) => void) | undefined;
  /** Receives notices of problems with a model. */
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** `summary` ends with the lists of files. */
interface MadeBranchSummary {
  summary: string;
  /** Why the fallback was used instead of the model. */
  failure?: string | undefined;
  /** A notice for the user. */
  warnings: AgentEvent[];
}

/**
 * Summarizes the branch that is left, in the form of every other summary, with the files it touched.
 * @param path of the branch, from the root on.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarizeBranch(
  path: readonly SessionEntry[],
  { left, own, preferred, ...options }: BranchSummaryOptions,
): Promise<MadeBranchSummary> {
  const { summary: compaction, kept } = contextEntries(path);
  const previous = compaction && left.includes(compaction) ? compaction : undefined;
  const isLeft = new Set(left);
  const messages = messagesOf(kept.filter((entry) => isLeft.has(entry)));
  const { fileBase } = options;
  const choice = { own, preferred };
  const { summary, failure } = await summarizeByLadder(messages, choice, {
    ...options,
    previousSummary: previous?.summary,
  });
  const files = extractFileOperations(messages, previous?.details, fileBase);
  return {
    summary: summary + formatFileOperations(files, { maxCharacters: MAX_FILE_CHARACTERS }),
    failure,
    warnings: summaryWarnings(assessSummary({ summary, failure }, messages, fileBase)),
  };
}
