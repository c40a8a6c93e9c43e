import type { MoveProgress } from "@diligent/core/light";
import { type AgentEvent, now, type SessionManager } from "@diligent/core/run";
import { describeError } from "../describe-error.ts";
import type { OpenSession } from "../open-session.ts";
import type { ShellLine } from "../shell-line/read-shell-line.ts";
import type { FileMove } from "../undo/describe-progress.ts";
import type { MoveControl } from "../undo/session-checkpoints.ts";
import { applyEvent } from "./apply-event.ts";
import { ApprovalDesk } from "./approval/approval-desk.ts";
import type { Room } from "./approval/content-rows.ts";
import { stopHint } from "./keys/key-texts.ts";
import { cutFinished } from "./markdown/cut-finished.ts";
import { UserShell } from "./shell-line/user-shell.ts";
import { finish, notice, type View } from "./view.ts";
import {
  type SentPrompt,
  WaitingPrompts,
  withoutLastQueued,
  withQueued,
  withQueuedAs,
} from "./waiting-prompts.ts";

// Who reads a number that changes reads no faster.
const PROGRESS_MS = 100;

export interface DriverParts {
  session(): Promise<OpenSession>;
  change(change: (view: View) => View): void;
  /** The screen, and the keys that are named on it. */
  room(): Room;
  /** True while the user is writing a prompt; a question does not take their keys then. Never when left out. */
  isWriting?(): boolean;
}

interface Work {
  kind: "run" | "compaction" | "files";
  abort: AbortController;
  ended: Promise<void>;
  /** What is being done to files; undefined where they are only looked at. */
  move?: FileMove | undefined;
}

/** Holds the conversation: sends prompts, steers, stops. One thing at a time, but for commands of the user's own. */
export class ConversationDriver {
  private work: Work | undefined;
  /** The session that a run is going on in. */
  private steered: SessionManager | undefined;
  private readonly waiting: WaitingPrompts;
  private readonly shell: UserShell;
  /** Where the run asks for consent. */
  readonly approvals: ApprovalDesk;

  constructor(private readonly parts: DriverParts) {
    this.waiting = new WaitingPrompts(parts.change);
    const untilTellable = () => (this.work?.kind === "compaction" ? this.work.ended : undefined);
    this.shell = new UserShell({ ...parts, untilTellable, keymap: () => parts.room().keymap });
    this.approvals = new ApprovalDesk({
      ...parts,
      isStopped: () => this.isInterrupted,
      isWriting: () => parts.isWriting?.() ?? false,
    });
  }

  /** What goes on was stopped, and has not ended yet. */
  get isInterrupted(): boolean {
    return this.work?.abort.signal.aborted ?? false;
  }

  /** Files are being moved, or looked at for that. */
  get isMovingFiles(): boolean {
    return this.work?.kind === "files";
  }

  /** What would be left halfway if the program ended now. */
  get unfinishedMove(): FileMove | undefined {
    return this.work?.move;
  }

  get isBusy(): boolean {
    return this.work !== undefined || this.shell.isRunning;
  }

  /** True once nothing is going on any more, if that comes about within the time. */
  async isFreeWithin(limitMs: number): Promise<boolean> {
    await Promise.race([this.work?.ended, Bun.sleep(limitMs)]);
    return !this.isBusy;
  }

  /**
   * Sends a prompt and resolves when its run has ended. One that is sent while a run is going on joins that; while the
   * context is compacted or a command of the user's own runs it waits.
   */
  async send(prompt: SentPrompt): Promise<void> {
    const { session, noteInput } = await this.parts.session();
    noteInput(prompt.text);
    if (this.work?.kind === "run") {
      const id = session.steer(prompt.content);
      this.parts.change((view) => withQueued(view, { id, text: prompt.text }));
    } else if (this.isBusy || !this.waiting.isEmpty) {
      this.waiting.add(prompt);
    } else {
      await this.run(prompt, session);
    }
  }

  /**
   * Runs a command of the user's own, also beside a run. @throws Error when one is running, files are being moved, or it cannot
   * be started.
   */
  async runShell(line: ShellLine, typed: string): Promise<void> {
    if (this.isMovingFiles)
      throw new Error(
        `A command of yours has to wait: files are moved${stopHint(this.parts.room().keymap)}.`,
      );
    void this.parts.session().then(({ noteInput }) => noteInput(typed));
    try {
      await this.shell.run(line);
    } finally {
      this.sendWaitingSoon();
    }
  }

  get isShellRunning(): boolean {
    return this.shell.isRunning;
  }

  async stopShell(): Promise<void> {
    await this.shell.stop();
  }

  /** Stops everything that is going on and resolves when it has ended. */
  async stopAll(): Promise<void> {
    this.waiting.takeBack("all");
    await Promise.all([this.shell.stop(), this.interrupt()]);
  }

  async compact(focus: string | undefined): Promise<void> {
    const { session } = await this.parts.session();
    await this.occupy({ kind: "compaction" }, async (signal) => {
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
    await this.occupy({ kind: "compaction" }, async (signal) => {
      this.say("Summarising the branch that is left…");
      this.parts.change((view) => ({ ...view, activity: { type: "waiting", since: now() } }));
      hasLeft = await session.branches.leave(entryId, { signal, emit: this.show });
      if (!hasLeft) this.say("Stopped: the conversation stays where it was.");
    });
    return hasLeft;
  }

  /**
   * Lets `work` move files, shows how far it has come, and resolves when it has ended; what it throws is said.
   * @param how `isDryRun`: they are only looked at.
   * @throws Error while something else is going on.
   */
  async moveFiles(
    move: FileMove,
    work: (control: MoveControl) => Promise<void>,
    { isDryRun } = { isDryRun: false },
  ): Promise<void> {
    if (this.isBusy) throw new Error("Files stay where they are until what goes on has ended.");
    const what = { kind: "files" as const, move: isDryRun ? undefined : move };
    await this.occupy(what, (signal) => {
      const since = now();
      const show = (progress?: MoveProgress) =>
        this.parts.change((view) => ({ ...view, activity: { type: "files", since, move, progress } }));
      show();
      return work({ signal, onProgress: atIntervals(show) });
    });
  }

  /** Stops what the model does, a compaction, or files that are moved, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    this.work?.abort.abort();
    this.approvals.stop();
    await this.work?.ended;
  }

  /** Messages that the model has not seen yet are taken back; they return, oldest first. */
  takeBack(which: "last" | "all"): string[] {
    const waiting = this.waiting.takeBack(which);
    if (which === "last" && waiting.length > 0) return waiting;
    const steered = this.steered?.takeBack(which) ?? [];
    this.parts.change((view) => withoutLastQueued(view, steered.length));
    return [...steered, ...waiting];
  }

  private readonly show = (event: AgentEvent): void => {
    this.parts.change((view) => applyEvent(view, event, { now: now(), cut: cutFinished }));
  };

  private async run({ text, content }: SentPrompt, session: SessionManager): Promise<void> {
    this.parts.change((view) => finish(view, { type: "prompt", text }));
    await this.occupy({ kind: "run" }, async (signal) => {
      this.steered = session;
      const message = { role: "user" as const, content, timestamp: now() };
      await session.run(message, { signal }).consume(this.show);
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
    for (const { id, content } of rest) {
      const steeringId = session.steer(content);
      this.parts.change((view) => withQueuedAs(view, id, steeringId));
    }
    await running;
  }

  private async occupy(
    what: Pick<Work, "kind" | "move">,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.work = { ...what, abort, ended: ended.promise };
    try {
      await work(abort.signal);
    } catch (error) {
      this.say(describeError(error), "error");
    } finally {
      this.work = undefined;
      this.steered = undefined;
      this.parts.change((view) => ({ ...view, activity: { type: "idle" } }));
      ended.resolve();
      this.sendWaitingSoon();
    }
  }

  private say(text: string, level: "info" | "error" = "info"): void {
    this.parts.change((view) => finish(view, notice(level, text)));
  }
}

/** At once where something else begins, and from then on at intervals. */
function atIntervals(show: (progress: MoveProgress) => void): (progress: MoveProgress) => void {
  let shown: { at: number; doing: MoveProgress["doing"] } | undefined;
  return (progress) => {
    const { doing } = progress;
    if (shown?.doing === doing && now() - shown.at < PROGRESS_MS) return;
    shown = { at: now(), doing };
    show(progress);
  };
}
