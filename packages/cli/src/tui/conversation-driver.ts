import type { MoveControl, ProjectSession } from "@diligent/core/harness";
import type { MoveProgress } from "@diligent/core/light";
import { type AgentEvent, now, type RunStopReason, type SessionManager } from "@diligent/core/run";
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

/** The dependencies of the conversation: its session, and where it is shown. */
interface DriverDeps {
  session(): Promise<ProjectSession>;
  change(change: (view: View) => View): void;
  /** Lends the terminal to a command of the user that needs it. */
  lendTerminal?: CommandContext["lendTerminal"];
  /** The screen, and the key names to show on it. */
  room(): Room;
  /** Called when the model has ended its answer and no prompt waits. */
  answered?(): void;
  /** True while the user is typing a prompt; a question does not take the keys then. Default: never. */
  isWriting?(): boolean;
}

/**
 * The current task. `preparation`: commands of a prompt run before it is sent. `move`: the operation on files;
 * undefined if files are only scanned.
 */
type DriverWork =
  | { kind: "run" | "compaction" | "preparation" }
  | { kind: "files"; move: FileMove | undefined };

/**
 * Runs the conversation: sends prompts, steers, stops. It runs one task at a time; only the user's shell
 * commands run alongside.
 */
export class ConversationDriver {
  /** Prompts that the model has not seen yet. */
  readonly waiting: WaitingPrompts;
  /** Runs the user's shell commands. */
  readonly shell: UserShell;
  /** The approval questions of the run. */
  readonly approvals: ApprovalPrompter;
  /** Summaries requested by the user. */
  readonly summaries: SummaryWork;
  private readonly work: ActiveTask<DriverWork>;
  /** No new task may start; sent prompts are saved for the next time. */
  private isClosing = false;
  /** Resolved when a task has ended and no prompt is queued. */
  private freed: PromiseWithResolvers<void> | undefined;

  constructor(private readonly deps: DriverDeps) {
    const { change, session } = deps;
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
      ...deps,
      isBlockedByMove: () => this.isMovingFiles,
      untilNotifiable: () => (this.work.what?.kind === "compaction" ? this.work.ended : undefined),
      ended: () => this.sendWaitingSoon(),
      keymap: () => deps.room().keymap,
    });
    this.approvals = new ApprovalPrompter({
      ...deps,
      isStopped: () => this.isInterrupted,
      isWriting: () => deps.isWriting?.() ?? false,
    });
    this.summaries = new SummaryWork({ session, change, work: this.work, show: this.show, say });
  }

  /** The current task was stopped and has not ended yet. */
  get isInterrupted(): boolean {
    return this.work.isStopped;
  }

  /** Files are being restored, or scanned for that. */
  get isMovingFiles(): boolean {
    return this.work.what?.kind === "files";
  }

  /** The operation that would be left half done if the program ended now. */
  get interruptedMove(): FileMove | undefined {
    const { what } = this.work;
    return what?.kind === "files" ? what.move : undefined;
  }

  /** True while any task is running, including a shell command of the user. */
  get isBusy(): boolean {
    return this.work.what !== undefined || this.shell.isRunning;
  }

  /** True once no task is running, if that happens within the time limit. */
  async isFreeWithin(limitMs: number): Promise<boolean> {
    await Promise.race([this.work.ended, Bun.sleep(limitMs)]);
    return !this.isBusy;
  }

  /** Resolves once no task is running and no prompt is queued. @param wait called first if that is not so now. */
  async whenIdle(wait: () => void): Promise<void> {
    if (this.isIdle) return;
    wait();
    while (!this.isIdle) {
      this.freed ??= Promise.withResolvers();
      await this.freed.promise;
    }
  }

  private get isIdle(): boolean {
    return !this.isBusy && this.waiting.isEmpty;
  }

  /**
   * Prepares a prompt, for which commands may run: as a task that can be stopped, unless another one is running.
   * @throws what `prepare` throws.
   */
  async prepare<T>(prepare: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isBusy) return prepare(new AbortController().signal);
    const prepared = Promise.withResolvers<T>();
    await this.work.begin({ kind: "preparation" }, async (signal) => {
      this.deps.change((view) => ({ ...view, activity: { type: "waiting", since: now() } }));
      await prepare(signal).then(prepared.resolve, prepared.reject);
    });
    return prepared.promise;
  }

  /**
   * Sends a prompt, and resolves when its run has ended. A prompt sent during a run joins that run. It waits
   * while the context is being compacted or a shell command is running.
   */
  async send(prompt: SentPrompt): Promise<void> {
    await (await this.accept(prompt)).ended;
  }

  /**
   * The same, but resolves as soon as the prompt cannot be lost any more; `ended` resolves when its run has
   * ended.
   */
  async accept(prompt: SentPrompt): Promise<{ ended: Promise<void> }> {
    const { session, noteInput } = await this.deps.session();
    noteInput(prompt.text);
    const ended = Promise.resolve();
    if (this.isClosing) {
      await session.notify(prompt.content);
      return { ended };
    }
    const { notes = [] } = prompt;
    const joins = this.work.what?.kind === "run" || this.isBusy || !this.waiting.isEmpty;
    if (joins && notes.length > 0) this.deps.change((view) => finish(view, notice("info", notes.join("\n"))));
    if (this.work.what?.kind === "run") this.waiting.steer(prompt, session);
    else if (this.isBusy || !this.waiting.isEmpty) this.waiting.add(prompt);
    else return { ended: this.run(prompt, session) };
    return { ended };
  }

  /**
   * Runs `work` as the operation `move`, shows its progress, and resolves when it has ended. Errors are shown
   * to the user.
   * @param how `isDryRun`: files are only scanned.
   * @throws Error while another task is running.
   */
  async moveFiles(
    move: FileMove,
    work: (control: MoveControl) => Promise<void>,
    { isDryRun } = { isDryRun: false },
  ): Promise<void> {
    if (this.isBusy) throw new Error("Cannot restore files while a task is running.");
    const what = { kind: "files" as const, move: isDryRun ? undefined : move };
    await this.work.begin(what, (signal) => work({ signal, onProgress: showMove(move, this.deps.change) }));
  }

  /** Stops the model, a compaction or a file restore, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    const stopped = this.work.stop();
    this.approvals.stop();
    await stopped;
  }

  /**
   * Stops everything for good, and resolves when it has ended. No prompt starts a run any more: waiting and
   * new prompts are saved as the user's last messages.
   */
  async close(): Promise<void> {
    this.isClosing = true;
    const waiting = this.waiting.drop("all");
    await Promise.all([this.shell.stop(), this.interrupt()]);
    if (waiting.length === 0) return;
    const { session } = await this.deps.session();
    for (const { content } of waiting) await session.notify(content);
  }

  private readonly show = (event: AgentEvent): void => {
    this.deps.change((view) => applyEvent(view, event, { now: now(), cut: cutFinished }));
  };

  private async run({ text, content, notes = [] }: SentPrompt, session: SessionManager): Promise<void> {
    const attached = notes.length > 0 ? [notice("info", notes.join("\n"))] : [];
    this.deps.change((view) => finish(view, { type: "prompt", text }, ...attached));
    let stopReason: RunStopReason | undefined;
    await this.work.begin({ kind: "run" }, async (signal) => {
      this.waiting.beginRun(session);
      await runPrompt(session, content, {
        signal,
        show: (event) => {
          if (event.type === "agent_end") stopReason = event.stopReason;
          this.show(event);
        },
      });
    });
    if (stopReason === "end_turn" && this.isIdle && !this.isClosing) this.deps.answered?.();
  }

  /** Code that waited for the end runs first, for example to show another branch. */
  private sendWaitingSoon(): void {
    if (!this.waiting.isEmpty) setImmediate(() => void this.sendWaiting());
    if (!this.isIdle) return;
    this.freed?.resolve();
    this.freed = undefined;
  }

  /** Sends the queued prompts: the first starts a run, the others join it. */
  private async sendWaiting(): Promise<void> {
    const { session } = await this.deps.session();
    if (this.isBusy) return;
    const [first, ...rest] = this.waiting.take();
    if (!first) return;
    const running = this.run(first, session);
    for (const prompt of rest) this.waiting.steerTaken(prompt, session);
    await running;
  }
}

interface SummaryDeps {
  session(): Promise<ProjectSession>;
  change(change: (view: View) => View): void;
  work: ActiveTask<DriverWork>;
  show(event: AgentEvent): void;
  say(text: string): void;
}

/**
 * Summaries requested by the user: of the conversation, and of an abandoned branch. Errors are shown to the
 * user.
 */
class SummaryWork {
  constructor(private readonly deps: SummaryDeps) {}

  /**
   * @param focus what the summary must keep above all.
   * @throws Error while another task is running.
   */
  async compact(focus: string | undefined): Promise<void> {
    const { session } = await this.deps.session();
    await this.deps.work.begin({ kind: "compaction" }, (signal) =>
      compactConversation(session, focus, this.control(signal)),
    );
  }

  /**
   * Continues after an earlier entry of the session, with a summary of the abandoned branch.
   * @returns false if it was stopped or failed, which was reported.
   * @throws Error while another task is running.
   */
  async leaveBranch(entryId: string | null): Promise<boolean> {
    const { change, say, work } = this.deps;
    const { session } = await this.deps.session();
    let isDone = false;
    await work.begin({ kind: "compaction" }, async (signal) => {
      say("Summarizing the abandoned branch…");
      change((view) => ({ ...view, activity: { type: "waiting", since: now() } }));
      isDone = await leaveBranch(session, entryId, this.control(signal));
    });
    return isDone;
  }

  private control(signal: AbortSignal): SummaryControl {
    const { show: emit, say } = this.deps;
    return { signal, emit, say };
  }
}

// A number that changes more often is not easier to read.
const PROGRESS_MS = 100;

/**
 * Shows that files are being restored. The returned function shows the progress: at once when a new stage
 * begins, then at intervals.
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
