import { type AgentEvent, now } from "@diligent/core/run";
import type { CurrentWork } from "../conversation/current-work.ts";
import { compactConversation, leaveBranch, type SummaryControl } from "../conversation/summarize.ts";
import type { OpenSession } from "../open-session.ts";
import type { DriverWork } from "./conversation-driver.ts";
import type { View } from "./view.ts";

interface SummaryParts {
  session(): Promise<OpenSession>;
  change(change: (view: View) => View): void;
  work: CurrentWork<DriverWork>;
  show(event: AgentEvent): void;
  say(text: string): void;
}

/** Summaries that the user asks for: of the conversation, and of a branch that is left. What goes wrong is said. */
export class SummaryWork {
  constructor(private readonly parts: SummaryParts) {}

  /**
   * @param focus what the summary has to keep above all.
   * @throws Error while something else goes on.
   */
  async compact(focus: string | undefined): Promise<void> {
    const { session } = await this.parts.session();
    await this.parts.work.begin({ kind: "compaction" }, (signal) =>
      compactConversation(session, focus, this.control(signal)),
    );
  }

  /**
   * Goes on behind an earlier entry of the session, with a summary of the branch that is left.
   * @returns false when it was stopped or failed, which was said.
   * @throws Error while something else goes on.
   */
  async leaveBranch(entryId: string | null): Promise<boolean> {
    const { change, say, work } = this.parts;
    const { session } = await this.parts.session();
    let hasLeft = false;
    await work.begin({ kind: "compaction" }, async (signal) => {
      say("Summarising the branch that is left…");
      change((view) => ({ ...view, activity: { type: "waiting", since: now() } }));
      hasLeft = await leaveBranch(session, entryId, this.control(signal));
    });
    return hasLeft;
  }

  private control(signal: AbortSignal): SummaryControl {
    const { show: emit, say } = this.parts;
    return { signal, emit, say };
  }
}
