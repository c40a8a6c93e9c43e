import type { HarnessSession, MoveControl } from "@diligent/core/harness";
import type { MoveProgress } from "@diligent/core/light";
import { type AgentEvent, now, type SessionManager } from "@diligent/core/run";
import { describeError } from "../errors.ts";
import {
  ActiveTask,
  compactConversation,
  leaveBranch,
  runPrompt,
  type SummaryControl,
} from "../session/conversation.ts";
import type { FileMove } from "../undo/describe.ts";
import { applyEvent } from "./apply-event.ts";
import type { Room } from "./approval/dialog.ts";
import { ApprovalPrompter } from "./approval/prompter.ts";
import type { CommandContext } from "./commands/types.ts";
import { cutFinished } from "./markdown/stream.ts";
import { type SentPrompt, WaitingPrompts } from "./prompt/prompt-queue.ts";
import { UserShell } from "./shell-commands.ts";
import { finish, notice, type View } from "./view.ts";

/** What the conversation is driven with: whose it is, and where it is shown. */
interface DriverDeps {
  session(): Promise<HarnessSession>;
  change(change: (view: View) => View): void;
  /** Lends the terminal to a command of the user's that needs it. */
  lendTerminal?: CommandContext["lendTerminal"];
  /** The screen, and the keys that are named on it. */
  room(): Room;
  /** True while the user is writing a prompt; a question does not take their keys then. Never when left out. */
  isWriting?(): boolean;
}

/** What goes on. `move`: what is being done to files; undefined where they are only looked at. */
type DriverWork = { kind: "run" | "compaction" } | { kind: "files"; move: FileMove | undefined };

/** Holds the conversation: sends prompts, steers, stops. One thing at a time, but for commands of the user's own. */
export class ConversationDriver {
  /** Prompts that the model has not seen yet. */
  readonly waiting: WaitingPrompts;
  /** Where commands of the user's own run. */
  readonly shell: UserShell;
  /** The approval questions of the run. */
  readonly approvals: ApprovalPrompter;
  /** Summaries that the user asks for. */
  readonly summaries: SummaryWork;
  private readonly work: ActiveTask<DriverWork>;
  /** Nothing begins any more; what was sent is kept for the next time. */
  private isClosing = false;

  constructor(private readonly parts: DriverDeps) {
    const { change, session } = parts;
    const say = (text: string) => change((view) => finish(view, notice("info", text)));
    this.waiting = new WaitingPrompts(change);
    this.work = new ActiveTask({
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
    this.approvals = new ApprovalPrompter({
      ...parts,
      isStopped: () => this.isInterrupted,
      isWriting: () => parts.isWriting?.() ?? false,
    });
    this.summaries = new SummaryWork({ session, change, work: this.work, show: this.show, say });
  }

  /** The current task was stopped and has not ended yet. */
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
    await (await this.accept(prompt)).ended;
  }

  /** The same, resolving as soon as the prompt is where it cannot be lost any more: `ended` tells of its run. */
  async accept(prompt: SentPrompt): Promise<{ ended: Promise<void> }> {
    const { session, noteInput } = await this.parts.session();
    noteInput(prompt.text);
    const ended = Promise.resolve();
    if (this.isClosing) {
      await session.notify(prompt.content);
      return { ended };
    }
    const { notes = [] } = prompt;
    const joins = this.work.what?.kind === "run" || this.isBusy || !this.waiting.isEmpty;
    if (joins && notes.length > 0)
      this.parts.change((view) => finish(view, notice("info", notes.join("\n"))));
    if (this.work.what?.kind === "run") this.waiting.steer(prompt, session);
    else if (this.isBusy || !this.waiting.isEmpty) this.waiting.add(prompt);
    else return { ended: this.run(prompt, session) };
    return { ended };
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
    if (this.isBusy) throw new Error("Cannot restore files while a task is running.");
    const what = { kind: "files" as const, move: isDryRun ? undefined : move };
    await this.work.begin(what, (signal) => work({ signal, onProgress: showMove(move, this.parts.change) }));
  }

  /** Stops what the model does, a compaction, or files that are moved, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    const stopped = this.work.stop();
    this.approvals.stop();
    await stopped;
  }

  /**
   * Stops everything for good and resolves when it has ended. No prompt begins a run any more: those that wait, and those
   * that still come, are saved as what the user said last.
   */
  async close(): Promise<void> {
    this.isClosing = true;
    const waiting = this.waiting.drop("all");
    await Promise.all([this.shell.stop(), this.interrupt()]);
    if (waiting.length === 0) return;
    const { session } = await this.parts.session();
    for (const { content } of waiting) await session.notify(content);
  }

  private readonly show = (event: AgentEvent): void => {
    this.parts.change((view) => applyEvent(view, event, { now: now(), cut: cutFinished }));
  };

  private async run({ text, content, notes = [] }: SentPrompt, session: SessionManager): Promise<void> {
    const attached = notes.length > 0 ? [notice("info", notes.join("\n"))] : [];
    this.parts.change((view) => finish(view, { type: "prompt", text }, ...attached));
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

interface SummaryDeps {
  session(): Promise<HarnessSession>;
  change(change: (view: View) => View): void;
  work: ActiveTask<DriverWork>;
  show(event: AgentEvent): void;
  say(text: string): void;
}

/** Summaries that the user asks for: of the conversation, and of a branch that is left. What goes wrong is said. */
class SummaryWork {
  constructor(private readonly parts: SummaryDeps) {}

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
      say("Summarising the abandoned branch…");
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

// Who reads a number that changes reads no faster.
const PROGRESS_MS = 100;

/**
 * Shows that files are being moved from now on; what is returned shows how far it has come: at once where something else
 * begins, and from then on at intervals.
 */
function showMove(
  move: FileMove,
  change: (change: (view: View) => View) => void,
): (progress: MoveProgress) => void {
  const since = now();
  const show = (progress?: MoveProgress) =>
    change((view) => ({ ...view, activity: { type: "files", since, move, progress } }));
  let shown: { at: number; doing: MoveProgress["doing"] } | undefined;
  show();
  return (progress) => {
    const { doing } = progress;
    if (shown?.doing === doing && now() - shown.at < PROGRESS_MS) return;
    shown = { at: now(), doing };
    show(progress);
  };
}
