import type { AgentEvent, SessionManager } from "@diligent/core/run";

/** How a summary is stopped, and who is told what comes of it. */
export interface SummaryControl {
  signal: AbortSignal;
  /** Gets what happens meanwhile. */
  emit(event: AgentEvent): void;
  /** Says that nothing came of it, and why. */
  say(text: string): void;
}

/** Summarises the older part of the conversation. @param focus what the summary has to keep above all. */
export async function compactConversation(
  session: SessionManager,
  focus: string | undefined,
  { signal, emit, say }: SummaryControl,
): Promise<void> {
  const { kind } = await session.compact({ focus, signal, emit });
  if (kind === "nothing") say("There is nothing to summarise yet.");
  if (kind === "aborted") say("Stopped: the session is as it was.");
}

/**
 * Goes on behind an earlier entry (null: from the beginning), with a summary of the branch that is left.
 * @returns false when it was stopped, which was said.
 */
export async function leaveBranch(
  session: SessionManager,
  entryId: string | null,
  { signal, emit, say }: SummaryControl,
): Promise<boolean> {
  const hasLeft = await session.branches.leave(entryId, { signal, emit });
  if (!hasLeft) say("Stopped: the conversation stays where it was.");
  return hasLeft;
}
