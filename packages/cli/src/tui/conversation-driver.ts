import {
  type AgentEvent,
  type ApprovalRequest,
  type ApprovalVerdict,
  type ContentBlock,
  now,
} from "@diligent/core/run";
import type { PersonAnswer } from "../approval.ts";
import type { OpenSession } from "../open-session.ts";
import { applyEvent } from "./apply-event.ts";
import { toApprovalDialog } from "./approval/to-approval-dialog.ts";
import type { View } from "./view.ts";

export interface DriverParts {
  session(): Promise<OpenSession>;
  change(change: (view: View) => View): void;
  /** Rows and columns of the screen. */
  size(): { rows: number; columns: number };
}

/** What a prompt becomes when it is sent: what the screen shows of it, and what the model gets. */
export interface SentPrompt {
  text: string;
  content: string | ContentBlock[];
}

/** Holds the conversation: sends prompts, steers, stops, asks for consent. One thing at a time. */
export class ConversationDriver {
  private work: { kind: "run" | "compaction"; abort: AbortController; ended: Promise<void> } | undefined;
  private answer: ((answer: PersonAnswer) => void) | undefined;
  private lastQuestion: Promise<unknown> = Promise.resolve();
  private asked: ApprovalRequest | undefined;

  constructor(private readonly parts: DriverParts) {}

  get isBusy(): boolean {
    return this.work !== undefined;
  }

  /** The command that waits for consent, for editing it. */
  get askedCommand(): string | undefined {
    const command = this.asked?.details?.command;
    return typeof command === "string" ? command : undefined;
  }

  /** Sends a prompt; while a run is going on it joins that, while the context is compacted it waits. */
  async send({ text, content }: SentPrompt): Promise<void> {
    const { session, noteInput } = await this.parts.session();
    noteInput(text);
    if (this.work?.kind === "run") {
      session.steer(text);
      this.parts.change((view) => ({ ...view, queued: [...view.queued, text] }));
      return;
    }
    await this.work?.ended;
    this.parts.change((view) => ({ ...view, finished: [...view.finished, { type: "prompt", text }] }));
    await this.occupy("run", async (signal) => {
      const message = { role: "user" as const, content, timestamp: now() };
      await session.run(message, { signal }).consume(this.show);
    });
  }

  async compact(focus: string | undefined): Promise<void> {
    const { session } = await this.parts.session();
    await this.occupy("compaction", async (signal) => {
      const { kind } = await session.compact({ focus, signal, emit: this.show });
      if (kind === "nothing") this.say("There is nothing to summarise yet.");
      if (kind === "aborted") this.say("Stopped: the session is as it was.");
    });
  }

  /**
   * Goes on behind an earlier entry of the session, with a summary of the branch that is left.
   * @returns false when it was stopped or failed, which was said.
   */
  async leaveBranch(entryId: string | null): Promise<boolean> {
    const { session } = await this.parts.session();
    let hasLeft = false;
    await this.occupy("compaction", async (signal) => {
      this.say("Summarising the branch that is left…");
      this.parts.change((view) => ({ ...view, activity: { type: "waiting", since: now() } }));
      hasLeft = await session.branches.leave(entryId, { signal, emit: this.show });
      if (!hasLeft) this.say("Stopped: the conversation stays where it was.");
    });
    return hasLeft;
  }

  /** Stops what is going on and resolves when it has ended. */
  async interrupt(): Promise<void> {
    this.work?.abort.abort();
    this.answer?.({ response: "reject", message: "The user stopped the run.", endTurn: true });
    await this.work?.ended;
  }

  /** Messages that wait for the model are taken back; they return, oldest first. */
  async takeBack(which: "last" | "all"): Promise<string[]> {
    const { session } = await this.parts.session();
    const texts = session.takeBack(which);
    this.parts.change((view) => ({
      ...view,
      queued: view.queued.slice(0, view.queued.length - texts.length),
    }));
    return texts;
  }

  /** One question after the other, also when several calls ask at once. */
  readonly ask = (request: ApprovalRequest, verdict: ApprovalVerdict): Promise<PersonAnswer> => {
    const question = this.lastQuestion.then(() => this.askNow(request, verdict));
    this.lastQuestion = question;
    return question;
  };

  give(answer: PersonAnswer): void {
    this.answer?.(answer);
  }

  private readonly show = (event: AgentEvent): void => {
    this.parts.change((view) => applyEvent(view, event, now()));
  };

  private async askNow(request: ApprovalRequest, verdict: ApprovalVerdict): Promise<PersonAnswer> {
    if (this.work?.abort.signal.aborted) {
      return { response: "reject", message: "The user stopped the run.", endTurn: true };
    }
    this.asked = request;
    const dialog = toApprovalDialog(request, verdict, this.parts.size());
    this.parts.change((view) => ({ ...view, dialog }));
    const { promise, resolve } = Promise.withResolvers<PersonAnswer>();
    this.answer = resolve;
    const answer = await promise;
    this.answer = undefined;
    this.asked = undefined;
    this.parts.change((view) => (view.dialog?.type === "approval" ? { ...view, dialog: undefined } : view));
    return answer;
  }

  private async occupy(
    kind: "run" | "compaction",
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.work = { kind, abort, ended: ended.promise };
    try {
      await work(abort.signal);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "error");
    } finally {
      this.work = undefined;
      this.parts.change((view) => ({ ...view, activity: { type: "idle" } }));
      ended.resolve();
    }
  }

  private say(text: string, level: "info" | "error" = "info"): void {
    this.parts.change((view) => ({ ...view, finished: [...view.finished, { type: "notice", level, text }] }));
  }
}
