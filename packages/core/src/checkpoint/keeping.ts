import { systemErrorText } from "../infrastructure/system-error.ts";
import type { History } from "./history.ts";
import { findPlaceObstacle } from "./place-obstacle.ts";
import { Recorder } from "./recorder.ts";
import { StoppedError } from "./slices.ts";
import { StoreFullError } from "./store/store-room.ts";
import type { CheckpointOptions } from "./types.ts";
import { type CheckpointPlace, findCheckpointPlace } from "./workplace.ts";

/** The keeping of a project: begun when it is needed, given up where it fails, and tried anew when somebody says so. */
export class Keeping {
  private readonly place: CheckpointPlace | undefined;
  private readonly stop = new AbortController();
  private begun: Promise<Recorder | undefined> | undefined;
  private opened: Recorder | undefined;
  private lastObstacle: string | undefined;
  private lastUnkept: readonly string[] = [];
  private isStoreFull = false;

  constructor(private readonly options: CheckpointOptions) {
    this.place = findCheckpointPlace(options);
    this.lastObstacle = this.place
      ? findPlaceObstacle(options)
      : "you have no home directory to keep them in";
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
    this.lastObstacle = findPlaceObstacle(this.options);
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
    // What takes changes back is loaded when something is to be taken back.
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
