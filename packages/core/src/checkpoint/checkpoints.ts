import { randomHex } from "../infrastructure/random-hex.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import { describeHalfMove } from "./describe-half-move.ts";
import type { History } from "./history.ts";
import { findPlaceObstacle, Recorder, StoreFullError } from "./recorder.ts";
import { Slices, StoppedError } from "./slices.ts";
import type { CheckpointOptions, MoveOptions, NoticeSink, Restoration, SessionChange } from "./types.ts";
import { type CheckpointPlace, findCheckpointPlace } from "./workplace.ts";

/** A call that may change something is about to run. */
export interface UpcomingChange {
  /** True for the first one of a run. */
  isFirst: boolean;
  notify: NoticeSink;
  /** The only path that it changes, where that is known; relative to the project. */
  written?: string | undefined;
}

/**
 * Keeps what is in the project before anything in it is changed, and takes changes back. Whatever goes wrong with keeping
 * stops nobody: then `canUndo` is false, and it is said once.
 */
export class Checkpoints {
  private readonly place: CheckpointPlace | undefined;
  private readonly stop = new AbortController();
  private recorder: Promise<Recorder | undefined> | undefined;
  private opened: Recorder | undefined;
  /** Everything happens one after the other. */
  private queue: Promise<unknown> = Promise.resolve();
  private run: string | undefined;
  private obstacle: string | undefined;
  private toldObstacle: string | undefined;
  private isDropTold = false;
  private isHalfTold = false;
  private isCallKept = false;
  private notify: NoticeSink | undefined;
  private unkeptFiles: readonly string[] = [];

  constructor(private readonly options: CheckpointOptions) {
    this.place = findCheckpointPlace(options);
    this.obstacle = this.place ? findPlaceObstacle(options) : "you have no home directory to keep them in";
  }

  /** False once it is known that what is changed from now on cannot be taken back. */
  get canUndo(): boolean {
    return this.obstacle === undefined;
  }

  /** Why not, in words that fit behind a colon. */
  get reason(): string | undefined {
    return this.obstacle;
  }

  /** Files of the project whose content is not kept, as far as it was looked at: too large, or not to be read. */
  get unkept(): readonly string[] {
    return this.unkeptFiles;
  }

  /**
   * Begins to keep the project as it is, beside everything else. Resolves once it is kept, or known that it cannot be: what
   * `canUndo` and `unkept` say holds then. It never rejects.
   */
  async prepare(): Promise<void> {
    this.begin();
    await this.recorder;
  }

  private begin(): void {
    const { place } = this;
    if (place === undefined || this.obstacle !== undefined || this.stop.signal.aborted) return;
    this.recorder ??= Recorder.begin(place, this.options, this.stop.signal).then(
      (recorder) => this.take(recorder),
      (error: unknown) => this.fail(error),
    );
  }

  /** To be waited for before something is changed. It never rejects. */
  beforeChanges({ isFirst, notify, written }: UpcomingChange): Promise<void> {
    return this.enqueue(async () => {
      if (isFirst) {
        this.run = randomHex(6);
        this.retry();
      }
      this.begin();
      const recorder = await this.recorder;
      const call = {
        run: this.run ?? "",
        entryId: this.options.entryId?.(),
        ...(written !== undefined && { written }),
      };
      await this.attempt(async () => recorder?.beginChanges(call));
      this.notify = notify;
      this.tell(recorder);
    });
  }

  /** To be called when something was changed, or may have been. */
  afterChanges(): void {
    void this.enqueue(async () => {
      // By then the next request is on its way.
      await new Slices().pause();
      const recorder = await this.recorder;
      await this.attempt(async () => recorder?.endChanges());
      this.unkeptFiles = recorder?.unkept ?? this.unkeptFiles;
      this.tellOfCall();
    });
  }

  /** Resolves once everything is noted down. */
  async settled(): Promise<void> {
    await this.queue;
  }

  /** See `History`. Undefined also where nothing is kept. */
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

  /** Stops at once what is going on. Of a session in which nothing was changed, nothing stays. */
  close(): void {
    this.stop.abort();
    this.opened?.close();
    this.opened = undefined;
    this.recorder = undefined;
  }

  private withHistory<T>(use: (history: History) => Promise<T>): Promise<T | undefined> {
    return this.enqueue(async () => {
      const { opened, place } = this;
      if (place === undefined) return undefined;
      const own = { workplace: opened?.workplace, isWorking: opened?.isWorking };
      // What takes changes back is loaded when something is to be taken back.
      const { History } = await import("./history.ts");
      return use(new History(place, this.options, own));
    });
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => {
      // Whoever asked for it is told; the next in the queue is not concerned.
    });
    return done;
  }

  private take(recorder: Recorder): Recorder | undefined {
    if (this.stop.signal.aborted) {
      recorder.close();
      return undefined;
    }
    this.opened = recorder;
    this.unkeptFiles = recorder.unkept;
    return recorder;
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): undefined {
    this.isCallKept = error instanceof StoreFullError;
    if (!(error instanceof StoppedError)) this.obstacle = systemErrorText(error);
    this.opened?.close();
    this.opened = undefined;
    this.recorder = Promise.resolve(undefined);
    return undefined;
  }

  /** What was in the way may be gone by the next run: a full disk, for instance. */
  private retry(): void {
    if (this.obstacle === undefined || this.place === undefined || this.opened) return;
    this.obstacle = findPlaceObstacle(this.options);
    this.recorder = undefined;
  }

  /** What came to light only when the call had ended. Where everything was noted down, it concerns the next call. */
  private tellOfCall(): void {
    if (this.obstacle === undefined || this.obstacle === this.toldObstacle || this.isCallKept) return;
    this.toldObstacle = this.obstacle;
    const message = `What the last call changed cannot be taken back with undo, or not all of it: ${this.obstacle}.`;
    this.notify?.("warning", "no_undo", message);
  }

  private tell(recorder: Recorder | undefined): void {
    const { notify } = this;
    if (!notify) return;
    if (this.obstacle !== undefined && this.obstacle !== this.toldObstacle) {
      this.toldObstacle = this.obstacle;
      notify("warning", "no_undo", `What is changed now cannot be taken back with undo: ${this.obstacle}.`);
    }
    if (recorder?.halfMove !== undefined && !this.isHalfTold) {
      this.isHalfTold = true;
      notify("warning", "undo_cut_off", describeHalfMove(recorder.halfMove));
    }
    if (!recorder || recorder.droppedSessions === 0 || this.isDropTold) return;
    this.isDropTold = true;
    const { droppedSessions: count } = recorder;
    const whose =
      count === 1
        ? "The checkpoints of one earlier session were"
        : `The checkpoints of ${count} earlier sessions were`;
    notify("info", "checkpoints_dropped", `${whose} dropped, the oldest first, to make room for new ones.`);
  }
}
