import { SerialQueue, StoppedError, TimeSlicer } from "../infrastructure/async.ts";
import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import { homeDirectory, randomHex } from "../infrastructure/runtime.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import type { History } from "./history.ts";
import { Recorder } from "./recorder.ts";
import { StoreFullError } from "./store/location.ts";
import {
  type CheckpointOptions,
  describeInterruptedRestore,
  type MoveOptions,
  type NoticeSink,
  type Restoration,
  type SessionChange,
} from "./types.ts";
import { type CheckpointLocation, findCheckpointLocation } from "./workplace.ts";

/** A call that may change something and is about to run. */
interface UpcomingChange {
  /** True for the first one of a run. */
  isFirst: boolean;
  notify: NoticeSink;
  /** The only path that it changes, where that is known; relative to the project. */
  written?: string | undefined;
}

/**
 * Records the project before anything in it is changed, and undoes changes. A failed recording never blocks a call:
 * `canUndo` is false then, and this is reported once.
 */
export class Checkpoints {
  private readonly session: CheckpointSession;
  private readonly notices: CheckpointNotices;
  private readonly queue = new SerialQueue();
  private run = "";

  constructor(private readonly options: CheckpointOptions) {
    this.session = new CheckpointSession(options);
    this.notices = new CheckpointNotices(this.session);
  }

  /** False once it is known that changes from now on cannot be undone. */
  get canUndo(): boolean {
    return this.reason === undefined;
  }

  /** The reason, in words that fit after a colon. */
  get reason(): string | undefined {
    return this.session.obstacle;
  }

  /** Project files whose content is not recorded, as far as known: too large, or not readable. */
  get unkept(): readonly string[] {
    return this.session.unkept;
  }

  /**
   * Starts recording the project in the background. Resolves once it is recorded, or known that it cannot be:
   * `canUndo` and `unkept` are valid then. It never rejects.
   */
  prepare(): Promise<void> {
    return this.session.begin();
  }

  /** Await this before something is changed. It never rejects. */
  beforeChanges({ isFirst, notify, written }: UpcomingChange): Promise<void> {
    return this.queue.add(async () => {
      if (isFirst) {
        this.run = randomHex(6);
        this.session.retry();
      }
      await this.session.begin();
      const entryId = this.options.entryId?.();
      const call = { run: this.run, entryId, ...(written !== undefined && { written }) };
      const recorder = await this.session.use((each) => each.beginChanges(call));
      this.notices.notifyBefore(recorder, notify);
    });
  }

  /** Call this when something was or may have been changed. */
  afterChanges(): void {
    void this.queue.add(async () => {
      // By then the next request is on its way.
      await new TimeSlicer().pause();
      await this.session.use((recorder) => recorder.endChanges());
      this.notices.notifyAfter();
    });
  }

  /** Resolves once everything is recorded. */
  settled(): Promise<void> {
    return this.queue.settled();
  }

  /** See `History`. Undefined also where nothing is kept. */
  undo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.undo(options)));
  }

  redo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.redo(options)));
  }

  jump(entryIds: ReadonlySet<string>, options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.jump(entryIds, options)));
  }

  changes(): Promise<SessionChange[] | undefined> {
    return this.queue.add(() => withHistory(this.session, (history) => history.changes()));
  }

  /** Stops immediately. A session in which nothing was changed leaves nothing behind. */
  close(): void {
    this.session.close();
  }
}

/** Undefined where nothing is kept. */
async function withHistory<T>(
  keeping: CheckpointSession,
  use: (history: History) => Promise<T>,
): Promise<T | undefined> {
  const history = await keeping.openHistory();
  return history && use(history);
}

/** Records a project: starts on demand, gives up on failure, and retries on request. */
class CheckpointSession {
  private readonly place: CheckpointLocation | undefined;
  private readonly stop = new AbortController();
  private begun: Promise<Recorder | undefined> | undefined;
  private opened: Recorder | undefined;
  private lastObstacle: string | undefined;
  private lastUnkept: readonly string[] = [];
  private isStoreFull = false;

  constructor(private readonly options: CheckpointOptions) {
    this.place = findCheckpointLocation(options);
    this.lastObstacle = this.place
      ? findLocationObstacle(options)
      : "there is no home directory to store them in";
  }

  /** Why nothing is kept from now on, in words that fit behind a colon; undefined as long as that is not known. */
  get obstacle(): string | undefined {
    return this.lastObstacle;
  }

  /** True where it was given up only after everything so far had been kept. */
  get isKeptSoFar(): boolean {
    return this.isStoreFull;
  }

  /** Files of the project whose content is not kept, as far as it was looked at: too large, or not to be read. */
  get unkept(): readonly string[] {
    return this.opened?.unkept ?? this.lastUnkept;
  }

  /** Begins, if that was not done yet. Resolves once the project is kept, or known that it cannot be; it never rejects. */
  async begin(): Promise<void> {
    const { place } = this;
    if (place !== undefined && this.obstacle === undefined && !this.stop.signal.aborted)
      this.begun ??= Recorder.begin(place, this.options, this.stop.signal).then(
        (recorder) => this.take(recorder),
        (error: unknown) => this.giveUp(error),
      );
    await this.begun;
  }

  /** What was in the way may be gone by now: a full disk, for instance. */
  retry(): void {
    if (this.obstacle === undefined || this.place === undefined || this.opened) return;
    this.lastObstacle = findLocationObstacle(this.options);
    this.begun = undefined;
  }

  /** Does something with the recorder, if there is one, and returns it. Where that fails, nothing is kept any more. */
  async use(work: (recorder: Recorder) => Promise<void>): Promise<Recorder | undefined> {
    const recorder = await this.begun;
    try {
      if (recorder) await work(recorder);
    } catch (error) {
      this.giveUp(error);
    }
    return recorder;
  }

  /** Undefined where nothing is kept, ever. */
  async openHistory(): Promise<History | undefined> {
    const { opened, place } = this;
    if (place === undefined) return undefined;
    const own = { workplace: opened?.workplace, isWorking: opened?.isWorking };
    // The undo code is loaded on first use.
    const { History } = await import("./history.ts");
    return new History(place, this.options, own);
  }

  /** Stops at once what is going on. Of a session in which nothing was changed, nothing stays. */
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
    if (!(error instanceof StoppedError)) this.lastObstacle = systemErrorText(error);
    this.drop();
    this.begun = Promise.resolve(undefined);
    return undefined;
  }

  private drop(): void {
    this.lastUnkept = this.unkept;
    this.opened?.close();
    this.opened = undefined;
  }
}

/** The notices about recording a project, each shown once. */
class CheckpointNotices {
  private notify: NoticeSink | undefined;
  private toldObstacle: string | undefined;
  private isDropTold = false;
  private isHalfTold = false;

  constructor(private readonly checkpoints: CheckpointSession) {}

  /** Before a call runs. `notify` is also told what comes to light when it has ended. */
  notifyBefore(recorder: Recorder | undefined, notify: NoticeSink): void {
    this.notify = notify;
    this.notifyObstacle((obstacle) => `Changes from now on cannot be undone: ${obstacle}.`);
    if (recorder?.interruptedRestore !== undefined && !this.isHalfTold) {
      this.isHalfTold = true;
      notify("warning", "undo_cut_off", describeInterruptedRestore(recorder.interruptedRestore));
    }
    if (!recorder || recorder.droppedSessions === 0 || this.isDropTold) return;
    this.isDropTold = true;
    notify("info", "checkpoints_dropped", describeDropped(recorder.droppedSessions));
  }

  /** Once a call has ended. Where everything it did was noted down, what is in the way concerns the next call. */
  notifyAfter(): void {
    if (this.checkpoints.isKeptSoFar) return;
    this.notifyObstacle(
      (obstacle) => `The last call's changes cannot be undone, or not completely: ${obstacle}.`,
    );
  }

  private notifyObstacle(describe: (obstacle: string) => string): void {
    const { obstacle } = this.checkpoints;
    if (obstacle === undefined || obstacle === this.toldObstacle) return;
    this.toldObstacle = obstacle;
    this.notify?.("warning", "no_undo", describe(obstacle));
  }
}

function describeDropped(sessions: number): string {
  const whose =
    sessions === 1
      ? "The checkpoints of one earlier session were"
      : `The checkpoints of ${sessions} earlier sessions were`;
  return `${whose} deleted, the oldest first, to make room for new ones.`;
}

/** Why a location is never recorded; undefined if it is. */
function findLocationObstacle({ root, environment }: CheckpointOptions): string | undefined {
  const home = homeDirectory(environment);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  if (root === "/") return "the project is the whole file system";
  if (realHome === undefined || !isInside(realHome, root)) return undefined;
  return root === realHome ? "the project is your home directory" : "your home directory is in the project";
}
