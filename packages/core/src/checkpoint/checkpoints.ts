import { SerialQueue, StoppedError, TimeSlicer } from "../infrastructure/async.ts";
import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import { homeDirectory, randomHex } from "../infrastructure/runtime.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import type { History } from "./history.ts";
import { describeLoss, type LostHistory } from "./lost-history.ts";
import { Recorder } from "./recorder.ts";
import { listGenerations, StoreFullError } from "./store/location.ts";
import { lastTimeOf, readSegments } from "./store/log.ts";
import { TooLargeError } from "./tree/project-state.ts";
import {
  type CheckpointOptions,
  describeInterruptedRestore,
  type MoveOptions,
  type NoticeSink,
  type Restoration,
  type SessionChange,
} from "./types.ts";
import { type CheckpointLocation, findCheckpointLocation } from "./workplace.ts";

/** A call that may change files and is about to run. */
interface UpcomingChange {
  /** True for the first one of a run. */
  isFirst: boolean;
  notify: NoticeSink;
  /** The only path that it changes, if known; relative to the project. */
  written?: string | undefined;
}

/**
 * Records the project before it is changed, and undoes changes. Recording starts on demand, is given up on a failure and
 * tried again with the next run. A failed recording never blocks a call: `canUndo` is false then, and this is reported
 * once.
 */
export class Checkpoints {
  private readonly location: CheckpointLocation | undefined;
  private readonly notices = new CheckpointNotices();
  private readonly queue = new SerialQueue();
  private readonly stop = new AbortController();
  private run = "";
  private begun: Promise<Recorder | undefined> | undefined;
  private recorder: Recorder | undefined;
  private problem: string | undefined;
  private lastUnrecorded: readonly string[] = [];
  /** True when recording stopped only after all changes so far had been recorded. */
  private isStoreFull = false;

  constructor(private readonly options: CheckpointOptions) {
    this.location = findCheckpointLocation(options);
    this.problem = this.location
      ? findLocationProblem(options)
      : "there is no home directory to store them in";
  }

  /** False once it is known that changes from now on cannot be undone. */
  get canUndo(): boolean {
    return this.problem === undefined;
  }

  /** The reason, as a clause that fits after a colon; undefined while recording works. */
  get reason(): string | undefined {
    return this.problem;
  }

  /** Project files whose content is not recorded, as far as known: too large, or not readable. */
  get unrecorded(): readonly string[] {
    return this.recorder?.unrecorded ?? this.lastUnrecorded;
  }

  /**
   * Starts recording the project in the background, unless it has started. Resolves once it is recorded, or cannot be
   * recorded: `canUndo` and `unrecorded` are valid then. It never rejects.
   */
  async prepare(): Promise<void> {
    const { location } = this;
    if (location !== undefined && this.canUndo && !this.stop.signal.aborted)
      this.begun ??= Recorder.begin(location, this.options, this.stop.signal).then(
        (recorder) => this.take(recorder),
        (error: unknown) => this.giveUp(error),
      );
    await this.begun;
  }

  /** Await this before files are changed. It never rejects. */
  beforeChanges({ isFirst, notify, written }: UpcomingChange): Promise<void> {
    return this.queue.add(async () => {
      if (isFirst) {
        this.run = randomHex(6);
        this.retry();
      }
      await this.prepare();
      const entryId = this.options.entryId?.();
      const call = { run: this.run, entryId, ...(written !== undefined && { written }) };
      const recorder = await this.record((each) => each.beginChanges(call));
      this.notices.notifyBefore({ recorder, problem: this.problem }, notify);
    });
  }

  /** Call this when files were or may have been changed. */
  afterChanges(): void {
    void this.queue.add(async () => {
      // By then the next request is on its way.
      await new TimeSlicer().pause();
      const recorder = await this.record((each) => each.endChanges());
      // If all changes of the call were recorded, a problem only concerns the next call.
      this.notices.notifyAfter({ recorder, problem: this.isStoreFull ? undefined : this.problem });
    });
  }

  /** Resolves once everything is recorded. */
  settled(): Promise<void> {
    return this.queue.settled();
  }

  /** How many times the project has changed, once everything is recorded; undefined if nothing is recorded. */
  async countChanges(): Promise<number | undefined> {
    await this.queue.settled();
    return this.recorder?.changeCount;
  }

  /** See `History`. Undefined when nothing is recorded. */
  undo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.withHistory((history) => history.undo(options));
  }

  redo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.withHistory((history) => history.redo(options));
  }

  jump(entryIds: ReadonlySet<string>, options?: MoveOptions): Promise<Restoration | undefined> {
    return this.withHistory((history) => history.jump(entryIds, options));
  }

  changes(): Promise<SessionChange[] | undefined> {
    return this.withHistory((history) => history.changes());
  }

  /** Stops all work immediately. A session that changed nothing leaves nothing on disk. */
  close(): void {
    this.stop.abort();
    this.drop();
    this.begun = undefined;
  }

  /** The cause of a problem may be gone by now: a full disk, for instance. */
  private retry(): void {
    if (this.canUndo || this.location === undefined || this.recorder) return;
    this.problem = findLocationProblem(this.options);
    this.begun = undefined;
  }

  /** Runs `work` with the recorder, if there is one, and returns it. After a failure, nothing more is recorded. */
  private async record(work: (recorder: Recorder) => Promise<void>): Promise<Recorder | undefined> {
    const recorder = await this.begun;
    try {
      if (recorder) await work(recorder);
    } catch (error) {
      this.giveUp(error);
    }
    return recorder;
  }

  private withHistory<T>(use: (history: History) => Promise<T>): Promise<T | undefined> {
    return this.queue.add(async () => {
      const { recorder, location } = this;
      if (location === undefined) return undefined;
      const own = { workplace: recorder?.workplace, isWorking: recorder?.isWorking };
      // The undo code is loaded on first use.
      const { History } = await import("./history.ts");
      return use(new History(location, this.options, own));
    });
  }

  private take(recorder: Recorder): Recorder | undefined {
    if (this.stop.signal.aborted) {
      recorder.close();
      return undefined;
    }
    this.recorder = recorder;
    return recorder;
  }

  private giveUp(error: unknown): undefined {
    this.isStoreFull = error instanceof StoreFullError;
    if (!(error instanceof StoppedError)) this.problem = systemErrorText(error);
    this.drop();
    this.begun = Promise.resolve(undefined);
    return undefined;
  }

  private drop(): void {
    this.lastUnrecorded = this.unrecorded;
    this.recorder?.close();
    this.recorder = undefined;
  }
}

/** The state of the recording that a notice may be about. */
interface RecordingState {
  recorder: Recorder | undefined;
  /** See `Checkpoints.reason`. */
  problem: string | undefined;
}

/** The notices about recording a project, each shown once. */
class CheckpointNotices {
  private notify: NoticeSink | undefined;
  private reportedProblem: string | undefined;
  private isDropReported = false;
  private isInterruptionReported = false;

  /** Call before a tool call runs. `notify` also receives what is found when the call has ended. */
  notifyBefore({ recorder, problem: current }: RecordingState, notify: NoticeSink): void {
    this.notify = notify;
    this.notifyProblem(current, (problem) => `Changes from now on cannot be undone: ${problem}.`);
    if (recorder?.interruptedRestore !== undefined && !this.isInterruptionReported) {
      this.isInterruptionReported = true;
      notify("warning", "undo_cut_off", describeInterruptedRestore(recorder.interruptedRestore));
    }
    if (!recorder || recorder.droppedSessions === 0 || this.isDropReported) return;
    this.isDropReported = true;
    notify("info", "checkpoints_dropped", describeDropped(recorder.droppedSessions));
  }

  /** Call when a tool call has ended. */
  notifyAfter({ recorder, problem: current }: RecordingState): void {
    const losses = recorder?.takeLosses() ?? [];
    if (losses.length > 0)
      this.notify?.(
        "warning",
        "history_lost",
        `A command removed ${describeLoss(losses)}: diligent undo restores what it removed.`,
      );
    this.notifyProblem(
      current,
      (problem) => `The last call's changes cannot be undone, or not completely: ${problem}.`,
    );
  }

  private notifyProblem(problem: string | undefined, describe: (problem: string) => string): void {
    if (problem === undefined || problem === this.reportedProblem) return;
    this.reportedProblem = problem;
    this.notify?.("warning", "no_undo", describe(problem));
  }
}

function describeDropped(sessions: number): string {
  const subject =
    sessions === 1
      ? "The checkpoints of one earlier session were"
      : `The checkpoints of ${sessions} earlier sessions were`;
  return `${subject} deleted, the oldest first, to make room for new ones.`;
}

/** The reason why a location is never recorded; undefined if it is. */
function findLocationProblem({ root, environment }: CheckpointOptions): string | undefined {
  const home = homeDirectory(environment);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  if (root === "/") return "the project is the whole file system";
  if (realHome === undefined || !isInside(realHome, root)) return undefined;
  return root === realHome ? "the project is your home directory" : "your home directory is in the project";
}
