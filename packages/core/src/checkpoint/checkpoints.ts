import { randomHex } from "../infrastructure/random-hex.ts";
import { SerialQueue } from "../infrastructure/serial-queue.ts";
import type { History } from "./history.ts";
import { Keeping } from "./keeping.ts";
import { KeepingNotices } from "./keeping-notices.ts";
import { Slices } from "./slices.ts";
import type { CheckpointOptions, MoveOptions, NoticeSink, Restoration, SessionChange } from "./types.ts";

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
  private readonly keeping: Keeping;
  private readonly notices: KeepingNotices;
  private readonly queue = new SerialQueue();
  private run = "";

  constructor(private readonly options: CheckpointOptions) {
    this.keeping = new Keeping(options);
    this.notices = new KeepingNotices(this.keeping);
  }

  /** False once it is known that what is changed from now on cannot be taken back. */
  get canUndo(): boolean {
    return this.reason === undefined;
  }

  /** Why not, in words that fit behind a colon. */
  get reason(): string | undefined {
    return this.keeping.obstacle;
  }

  /** Files of the project whose content is not kept, as far as it was looked at: too large, or not to be read. */
  get unkept(): readonly string[] {
    return this.keeping.unkept;
  }

  /**
   * Begins to keep the project as it is, beside everything else. Resolves once it is kept, or known that it cannot be: what
   * `canUndo` and `unkept` say holds then. It never rejects.
   */
  prepare(): Promise<void> {
    return this.keeping.begin();
  }

  /** To be waited for before something is changed. It never rejects. */
  beforeChanges({ isFirst, notify, written }: UpcomingChange): Promise<void> {
    return this.queue.add(async () => {
      if (isFirst) {
        this.run = randomHex(6);
        this.keeping.retry();
      }
      await this.keeping.begin();
      const entryId = this.options.entryId?.();
      const call = { run: this.run, entryId, ...(written !== undefined && { written }) };
      const recorder = await this.keeping.use((each) => each.beginChanges(call));
      this.notices.tellBefore(recorder, notify);
    });
  }

  /** To be called when something was changed, or may have been. */
  afterChanges(): void {
    void this.queue.add(async () => {
      // By then the next request is on its way.
      await new Slices().pause();
      await this.keeping.use((recorder) => recorder.endChanges());
      this.notices.tellAfter();
    });
  }

  /** Resolves once everything is noted down. */
  settled(): Promise<void> {
    return this.queue.settled();
  }

  /** See `History`. Undefined also where nothing is kept. */
  undo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.keeping, (history) => history.undo(options)));
  }

  redo(options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.keeping, (history) => history.redo(options)));
  }

  jump(entryIds: ReadonlySet<string>, options?: MoveOptions): Promise<Restoration | undefined> {
    return this.queue.add(() => withHistory(this.keeping, (history) => history.jump(entryIds, options)));
  }

  changes(): Promise<SessionChange[] | undefined> {
    return this.queue.add(() => withHistory(this.keeping, (history) => history.changes()));
  }

  /** Stops at once what is going on. Of a session in which nothing was changed, nothing stays. */
  close(): void {
    this.keeping.close();
  }
}

/** Undefined where nothing is kept. */
async function withHistory<T>(
  keeping: Keeping,
  use: (history: History) => Promise<T>,
): Promise<T | undefined> {
  const history = await keeping.openHistory();
  return history && use(history);
}
