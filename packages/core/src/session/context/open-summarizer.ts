import type { AgentEvent } from "../../agent/types.ts";
import type { Summarizer } from "./context-guard.ts";

/** Who may write summaries. */
export interface SummarizerChoice {
  /** The session's own model. */
  own: Summarizer;
  /** A model that is preferred for summaries. */
  preferred?: (() => Promise<Summarizer>) | undefined;
}

/** Who writes a summary: the preferred model, or the session's own where that cannot be opened, which is told. */
export async function openSummarizer(
  { own, preferred }: SummarizerChoice,
  emit?: (event: AgentEvent) => void,
): Promise<Summarizer> {
  try {
    return preferred ? await preferred() : own;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The session's own model writes the summary: ${reason}`;
    emit?.({ type: "notice", level: "warning", code: "compaction_model", message });
    return own;
  }
}
