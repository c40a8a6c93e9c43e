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
  type PathState,
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
 * Records the project before anything in it is changed, and undoes changes. A failed recording never blocks a call:
 * `canUndo` is false then, and this is reported once. Of a project that is too large, the repositories are recorded.
 */
export class Checkpoints {
  private readonly session: CheckpointSession;
  /** In place of `session` once the project turned out to be too large. */
  private readonly repositories: CheckpointSession | undefined;
  private readonly notices: CheckpointNotices;
  private readonly queue = new SerialQueue();
  private run = "";

  constructor(private readonly options: CheckpointOptions) {
    this.session = new CheckpointSession(options);
    if (options.scope !== "repositories")
      this.repositories = new CheckpointSession({ ...options, scope: "repositories" });
    this.notices = new CheckpointNotices(this.session, this.repositories);
    this.notices.isQuiet = options.isTemporary === true;
  }

  /** False once it is known that changes from now on cannot be undone. */
  get canUndo(): boolean {
    return this.reason === undefined;
  }

  /** The reason, as a clause that fits after a colon. */
  get reason(): string | undefined {
    return this.session.problem;
  }

  /** Project files whose content is not recorded, as far as known: too large, or not readable. */
  get unrecorded(): readonly string[] {
    return this.session.unrecorded;
  }

  /**
   * Starts recording the project in the background. Resolves once it is recorded, or cannot be recorded: `canUndo` and
   * `unrecorded` are valid then. It never rejects.
   */
  async prepare(): Promise<void> {
    await this.session.begin();
    if (this.session.isTooLarge) await this.repositories?.begin();
  }

  /**
   * False once it is known that lost commits or refs could not be restored: nothing is recorded, or not all objects
   * are.
   */
  get canRestoreHistory(): boolean {
    const { problem, unrecordedObjects } = this.active;
    return problem === undefined && unrecordedObjects.length === 0;
  }

  /** True once a call of this process has taken commits or refs away. */
  get hasLosses(): boolean {
    return this.session.hasLosses || this.repositories?.hasLosses === true;
  }

  /** Await this before files are changed. It never rejects. */
  beforeChanges({ isFirst, notify, written }: UpcomingChange): Promise<void> {
    return this.queue.add(async () => {
      if (isFirst) {
        this.run = randomHex(6);
        this.session.retry();
        this.repositories?.retry();
      }
      const entryId = this.options.entryId?.();
      const call = { run: this.run, entryId, ...(written !== undefined && { written }) };
      await this.session.begin();
      let recorder = await this.session.use((each) => each.beginChanges(call));
      if (this.session.isTooLarge && this.repositories) {
        await this.repositories.begin();
        recorder = await this.repositories.use((each) => each.beginChanges(call));
      }
      this.notices.notifyBefore(recorder, notify);
    });
  }

  /** Call this when files were or may have been changed. */
  afterChanges(): void {
    void this.queue.add(async () => {
      // By then the next request is on its way.
      await new TimeSlicer().pause();
      for (const each of this.sessions) {
        const recorder = await each.use((opened) => opened.endChanges());
        this.notices.notifyLosses(recorder?.takeLosses() ?? []);
      }
      this.notices.notifyAfter();
    });
  }

  /** Resolves once everything is recorded. */
  settled(): Promise<void> {
    return this.queue.settled();
  }

  /** How many times the project has changed, once everything is recorded; undefined if nothing is recorded. */
  async countChanges(): Promise<number | undefined> {
    await this.queue.settled();
    return this.session.changeCount;
  }

  /** See `History`. Undefined when nothing is recorded. */
  undo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.findLastUsed(), (history) => history.undo(options)));
  }

  redo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.findLastUsed(), (history) => history.redo(options)));
  }

  jump(entryIds: ReadonlySet<string>, options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.jump(entryIds, options)));
  }

  changes(): Promise<SessionChange[] | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.changes()));
  }

  statesAt(entryIds: ReadonlySet<string>): Promise<PathState[] | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.statesAt(entryIds)));
  }

  /** Stops immediately. A session that changed nothing leaves nothing on disk. */
  close(): void {
    for (const each of this.sessions) each.close();
  }

  private get sessions(): CheckpointSession[] {
    return this.repositories ? [this.session, this.repositories] : [this.session];
  }

  private get active(): CheckpointSession {
    return (this.session.isTooLarge ? this.repositories : undefined) ?? this.session;
  }

  /** Where the last change, or its undo, was recorded. */
  private findLastUsed(): CheckpointSession {
    const { session, repositories } = this;
    return repositories && repositories.lastUsedAt > session.lastUsedAt ? repositories : session;
  }
}

/** Undefined when nothing is recorded. */
async function withHistory<T>(
  session: CheckpointSession,
  use: (history: History) => Promise<T>,
): Promise<T | undefined> {
  const history = await session.openHistory();
  return history && use(history);
}

/** Records a project: starts on demand, gives up on failure, and retries on request. */
class CheckpointSession {
  private readonly location: CheckpointLocation | undefined;
  private readonly stop = new AbortController();
  private begun: Promise<Recorder | undefined> | undefined;
  private opened: Recorder | undefined;
  private lastProblem: string | undefined;
  private lastUnkept: readonly string[] = [];
  private isStoreFull = false;
  private hadLosses = false;
  /** True when the project has more in it than can be recorded. */
  isTooLarge = false;

  constructor(private readonly options: CheckpointOptions) {
    this.location = findCheckpointLocation(options);
    this.lastProblem = this.location
      ? findLocationProblem(options)
      : "there is no home directory to store them in";
  }

  /**
   * The reason why nothing is recorded from now on, as a clause that fits after a colon; undefined while recording
   * works.
   */
  get problem(): string | undefined {
    return this.lastProblem;
  }

  /** True when recording stopped only after all changes so far had been recorded. */
  get isCompleteSoFar(): boolean {
    return this.isStoreFull;
  }

  /** Project files whose content is not recorded, as far as known: too large, or not readable. */
  get unrecorded(): readonly string[] {
    return this.opened?.unrecorded ?? this.lastUnkept;
  }

  /** Of `unrecorded`, git's objects. */
  get unrecordedObjects(): readonly string[] {
    return this.opened?.unrecordedObjects ?? [];
  }

  /** True while repositories are recorded. */
  get hasRepositories(): boolean {
    return this.opened?.hasRepositories === true;
  }

  get hasLosses(): boolean {
    return this.hadLosses || this.opened?.hasLosses === true;
  }

  /** When something was last recorded or restored, in milliseconds since the epoch; 0 if never. */
  get lastUsedAt(): number {
    const { location, options } = this;
    return location ? lastTimeOf(readSegments(listGenerations(location.project), options.sessionId)) : 0;
  }

  /** See `Recorder`; undefined while nothing is recorded. */
  get changeCount(): number | undefined {
    return this.opened?.changeCount;
  }

  /**
   * Starts recording unless it has started. Resolves once the project is recorded, or cannot be recorded; it never
   * rejects.
   */
  async begin(): Promise<void> {
    const { location } = this;
    if (location !== undefined && this.problem === undefined && !this.stop.signal.aborted)
      this.begun ??= Recorder.begin(location, this.options, this.stop.signal).then(
        (recorder) => this.take(recorder),
        (error: unknown) => this.giveUp(error),
      );
    await this.begun;
  }

  /** The cause may be gone by now: a full disk, for instance. */
  retry(): void {
    if (this.problem === undefined || this.location === undefined || this.opened) return;
    this.lastProblem = findLocationProblem(this.options);
    this.isTooLarge = false;
    this.begun = undefined;
  }

  /**
   * Runs `work` with the recorder, if there is one, and returns the recorder. After a failure, nothing more is
   * recorded.
   */
  async use(work: (recorder: Recorder) => Promise<void>): Promise<Recorder | undefined> {
    const recorder = await this.begun;
    try {
      if (recorder) await work(recorder);
    } catch (error) {
      this.giveUp(error);
    }
    return recorder;
  }

  /** Undefined when nothing is ever recorded. */
  async openHistory(): Promise<History | undefined> {
    const { opened, location } = this;
    if (location === undefined) return undefined;
    const own = { workplace: opened?.workplace, isWorking: opened?.isWorking };
    // The undo code is loaded on first use.
    const { History } = await import("./history.ts");
    return new History(location, this.options, own);
  }

  /** Stops all work immediately. A session that changed nothing leaves nothing on disk. */
  close(): void {
    this.stop.abort();
    this.drop();
    this.begun = undefined;
  }

  private take(recorder: Recorder): Recorder | undefined {
    if (this.stop.signal.aborted) {
      recorder.close();
      return undefined;
    }
    this.opened = recorder;
    return recorder;
  }

  private giveUp(error: unknown): undefined {
    this.isStoreFull = error instanceof StoreFullError;
    this.isTooLarge = error instanceof TooLargeError;
    if (!(error instanceof StoppedError)) this.lastProblem = systemErrorText(error);
    this.drop();
    this.begun = Promise.resolve(undefined);
    return undefined;
  }

  private drop(): void {
    this.lastUnkept = this.unrecorded;
    this.hadLosses = this.hasLosses;
    this.opened?.close();
    this.opened = undefined;
  }
}

/** The notices about recording a project, each shown once. */
class CheckpointNotices {
  private notify: NoticeSink | undefined;
  private reportedProblem: string | undefined;
  private isDropReported = false;
  private isInterruptionReported = false;

  /** True where nobody expects that changes can be undone. */
  isQuiet = false;

  /** @param repositories what is recorded in place of a project that is too large. */
  constructor(
    private readonly checkpoints: CheckpointSession,
    private readonly repositories: CheckpointSession | undefined,
  ) {}

  /** Call before a tool call runs. `notify` also receives what is found when the call has ended. */
  notifyBefore(recorder: Recorder | undefined, notify: NoticeSink): void {
    this.notify = notify;
    this.notifyProblem((problem) => `Changes from now on cannot be undone${this.exception}: ${problem}.`);
    if (recorder?.interruptedRestore !== undefined && !this.isInterruptionReported) {
      this.isInterruptionReported = true;
      notify("warning", "undo_cut_off", describeInterruptedRestore(recorder.interruptedRestore));
    }
    if (!recorder || recorder.droppedSessions === 0 || this.isDropReported) return;
    this.isDropReported = true;
    notify("info", "checkpoints_dropped", describeDropped(recorder.droppedSessions));
  }

  /** What a tool call has taken away from repositories. */
  notifyLosses(losses: readonly LostHistory[]): void {
    if (losses.length === 0) return;
    const message = `A command removed ${describeLoss(losses)}: diligent undo restores what it removed.`;
    this.notify?.("warning", "history_lost", message);
  }

  /** Call when a tool call has ended. If all its changes were recorded, a problem only concerns the next call. */
  notifyAfter(): void {
    if (this.checkpoints.isCompleteSoFar) return;
    this.notifyProblem(
      (problem) => `The last call's changes cannot be undone, or not completely: ${problem}.`,
    );
  }

  private get exception(): string {
    const isRecorded = this.checkpoints.isTooLarge && this.repositories?.hasRepositories;
    return isRecorded ? ", except those of commits and refs" : "";
  }

  private notifyProblem(describe: (problem: string) => string): void {
    const { problem } = this.checkpoints;
    if (this.isQuiet || problem === undefined || problem === this.reportedProblem) return;
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
