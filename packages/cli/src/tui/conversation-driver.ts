import { type AgentEvent, now, type SessionManager } from "@diligent/core/run";
import { CurrentWork } from "../conversation/current-work.ts";
import { runPrompt } from "../conversation/run-prompt.ts";
import { describeError } from "../describe-error.ts";
import type { OpenSession } from "../open-session.ts";
import type { FileMove } from "../undo/describe-progress.ts";
import type { MoveControl } from "../undo/session-checkpoints.ts";
import { applyEvent } from "./apply-event.ts";
import { ApprovalDesk } from "./approval/approval-desk.ts";
import type { Room } from "./approval/content-rows.ts";
import { cutFinished } from "./markdown/cut-finished.ts";
import { UserShell } from "./shell-line/user-shell.ts";
import { showMove } from "./show-move.ts";
import { SummaryWork } from "./summary-work.ts";
import { finish, notice, type View } from "./view.ts";
import { type SentPrompt, WaitingPrompts } from "./waiting-prompts.ts";

/** What the conversation is driven with: whose it is, and where it is shown. */
export interface DriverParts {
  session(): Promise<OpenSession>;
  change(change: (view: View) => View): void;
  /** The screen, and the keys that are named on it. */
  room(): Room;
  /** True while the user is writing a prompt; a question does not take their keys then. Never when left out. */
  isWriting?(): boolean;
}

/** What goes on. `move`: what is being done to files; undefined where they are only looked at. */
export type DriverWork = { kind: "run" | "compaction" } | { kind: "files"; move: FileMove | undefined };

/** Holds the conversation: sends prompts, steers, stops. One thing at a time, but for commands of the user's own. */
export class ConversationDriver {
  /** Prompts that the model has not seen yet. */
  readonly waiting: WaitingPrompts;
  /** Where commands of the user's own run. */
  readonly shell: UserShell;
  /** Where the run asks for consent. */
  readonly approvals: ApprovalDesk;
  /** Summaries that the user asks for. */
  readonly summaries: SummaryWork;
  private readonly work: CurrentWork<DriverWork>;

  constructor(private readonly parts: DriverParts) {
    const { change, session } = parts;
    const say = (text: string) => change((view) => finish(view, notice("info", text)));
    this.waiting = new WaitingPrompts(change);
    this.work = new CurrentWork({
      failed: (error) => change((view) => finish(view, notice("error", describeError(error)))),
      ended: () => {
        this.waiting.endRun();
        change((view) => ({ ...view, activity: { type: "idle" } }));
        this.sendWaitingSoon();
      },
    });
    this.shell = new UserShell({
      ...parts,
      isHeldUp: () => this.isMovingFiles,
      untilTellable: () => (this.work.what?.kind === "compaction" ? this.work.ended : undefined),
      ended: () => this.sendWaitingSoon(),
      keymap: () => parts.room().keymap,
    });
    this.approvals = new ApprovalDesk({
      ...parts,
      isStopped: () => this.isInterrupted,
      isWriting: () => parts.isWriting?.() ?? false,
    });
    this.summaries = new SummaryWork({ session, change, work: this.work, show: this.show, say });
  }

  /** What goes on was stopped, and has not ended yet. */
  get isInterrupted(): boolean {
    return this.work.isStopped;
  }

  /** Files are being moved, or looked at for that. */
  get isMovingFiles(): boolean {
    return this.work.what?.kind === "files";
  }

  /** What would be left halfway if the program ended now. */
  get unfinishedMove(): FileMove | undefined {
    const { what } = this.work;
    return what?.kind === "files" ? what.move : undefined;
  }

  /** True while anything goes on, be it a command of the user's own. */
  get isBusy(): boolean {
    return this.work.what !== undefined || this.shell.isRunning;
  }

  /** True once nothing is going on any more, if that comes about within the time. */
  async isFreeWithin(limitMs: number): Promise<boolean> {
    await Promise.race([this.work.ended, Bun.sleep(limitMs)]);
    return !this.isBusy;
  }

  /**
   * Sends a prompt and resolves when its run has ended. One that is sent while a run is going on joins that; while the
   * context is compacted or a command of the user's own runs it waits.
   */
  async send(prompt: SentPrompt): Promise<void> {
    const { session, noteInput } = await this.parts.session();
    noteInput(prompt.text);
    if (this.work.what?.kind === "run") this.waiting.steer(prompt, session);
    else if (this.isBusy || !this.waiting.isEmpty) this.waiting.add(prompt);
    else await this.run(prompt, session);
  }

  /**
   * Lets `move` be done by `work`, shows how far it has come, and resolves when it has ended; what it throws is said.
   * @param how `isDryRun`: files are only looked at.
   * @throws Error while something else is going on.
   */
  async moveFiles(
    move: FileMove,
    work: (control: MoveControl) => Promise<void>,
    { isDryRun } = { isDryRun: false },
  ): Promise<void> {
    if (this.isBusy) throw new Error("Files stay where they are until what goes on has ended.");
    const what = { kind: "files" as const, move: isDryRun ? undefined : move };
    await this.work.begin(what, (signal) => work({ signal, onProgress: showMove(move, this.parts.change) }));
  }

  /** Stops what the model does, a compaction, or files that are moved, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    const stopped = this.work.stop();
    this.approvals.stop();
    await stopped;
  }

  /** Stops everything that is going on and resolves when it has ended; what waits for that is not sent. */
  async stopAll(): Promise<void> {
    this.waiting.drop("all");
    await Promise.all([this.shell.stop(), this.interrupt()]);
  }

  private readonly show = (event: AgentEvent): void => {
    this.parts.change((view) => applyEvent(view, event, { now: now(), cut: cutFinished }));
  };

  private async run({ text, content }: SentPrompt, session: SessionManager): Promise<void> {
    this.parts.change((view) => finish(view, { type: "prompt", text }));
    await this.work.begin({ kind: "run" }, async (signal) => {
      this.waiting.beginRun(session);
      await runPrompt(session, content, { signal, show: this.show });
    });
  }

  /** Whoever waited for the end does first what has to be done then, such as to show another branch. */
  private sendWaitingSoon(): void {
    if (!this.waiting.isEmpty) setImmediate(() => void this.sendWaiting());
  }

  /** What has waited is sent: the first as a prompt, and the rest joins its run. */
  private async sendWaiting(): Promise<void> {
    const { session } = await this.parts.session();
    if (this.isBusy) return;
    const [first, ...rest] = this.waiting.take();
    if (!first) return;
    const running = this.run(first, session);
    for (const prompt of rest) this.waiting.steerTaken(prompt, session);
    await running;
  }
}
