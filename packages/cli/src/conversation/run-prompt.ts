import { type AgentEvent, type ContentBlock, now, type SessionManager } from "@diligent/core/run";

interface PromptRun {
  signal: AbortSignal;
  /** Gets the events of the run, in order. */
  show(event: AgentEvent): void;
}

/** Sends what the user wrote, and resolves when its run has ended. @throws Error while another run goes on. */
export async function runPrompt(
  session: SessionManager,
  content: string | ContentBlock[],
  { signal, show }: PromptRun,
): Promise<void> {
  await session.run({ role: "user", content, timestamp: now() }, { signal }).consume(show);
}
