import {
  type CheckpointOptions,
  type Checkpoints,
  type MoveProgress,
  openCheckpoints,
  type Restoration,
  type SessionChange,
} from "@diligent/core/light";
import type { ChangeKeeper } from "@diligent/core/run";
import { CheckpointPreparation } from "./checkpoint-preparation.ts";
import { toProjectPath } from "./project-path.ts";

/** Whose checkpoints they are, and whether any are made. */
export interface SessionCheckpointsOptions extends CheckpointOptions {
  /** False: nothing is kept, since nothing of the session is to be written. */
  isKept: boolean;
  /** False where no tool changes anything: then nothing is made ready. */
  isChanging: boolean;
  /** Where the paths begin that tools are given; absolute. */
  cwd: string;
}

/** How files are moved; it can be stopped, and then puts back what it had done. */
export interface MoveControl {
  signal?: AbortSignal;
  /** Told now and then, where it takes a while. */
  onProgress?: (progress: MoveProgress) => void;
}

/** How something is taken back from within a session. */
export interface UndoOptions extends MoveControl {
  /** Only says what would be done. */
  isDryRun?: boolean;
  /** Takes back the last turn that was cut off. */
  isCutOff?: boolean;
}

/** A session's checkpoints, loaded when they are needed. */
export class SessionCheckpoints implements ChangeKeeper {
  /** When the project is kept for the first time. */
  readonly preparation: CheckpointPreparation;
  private opened: Promise<Checkpoints> | undefined;
  private loaded: Checkpoints | undefined;
  private isClosed = false;

  constructor(private readonly options: SessionCheckpointsOptions) {
    const { isKept, isChanging } = options;
    this.preparation = new CheckpointPreparation({ open: () => this.open(), isKept, isChanging });
  }

  /** False once it is known that what is changed from now on cannot be taken back. */
  get canUndo(): boolean {
    return this.options.isKept && (this.loaded?.canUndo ?? true);
  }

  /** False also where the project holds files that are too large to be kept, or may not be read. */
  get canUndoEverything(): boolean {
    return this.canUndo && (this.loaded?.unkept.length ?? 0) === 0;
  }

  /** Why not, in words that fit behind a colon; undefined where it is not known to be so. */
  get reason(): string | undefined {
    return this.options.isKept ? this.loaded?.reason : "nothing of this session is written to disk";
  }

  async beforeChanges(change: Parameters<ChangeKeeper["beforeChanges"]>[0]): Promise<void> {
    const checkpoints = await this.open();
    const { writes, ...more } = change;
    // Without a path anything may be changed.
    const written = writes === undefined ? undefined : toProjectPath(writes, this.options);
    await checkpoints?.beforeChanges({ ...more, ...(written !== undefined && { written }) });
  }

  afterChanges(): void {
    this.loaded?.afterChanges();
  }

  async settled(): Promise<void> {
    await this.loaded?.settled();
  }

  /** Undefined when there is nothing to take back. @throws Error when it cannot be done now. */
  async undo(options?: UndoOptions): Promise<Restoration | undefined> {
    return (await this.open())?.undo(options);
  }

  /** Undefined when there is nothing to bring back. @throws Error when it cannot be done now. */
  async redo(options?: Omit<UndoOptions, "isCutOff">): Promise<Restoration | undefined> {
    return (await this.open())?.redo(options);
  }

  /** Brings the files to where they were at a place of the conversation; undefined when that is where they are. */
  async jump(
    entryIds: ReadonlySet<string>,
    options?: Omit<UndoOptions, "isCutOff">,
  ): Promise<Restoration | undefined> {
    return (await this.open())?.jump(entryIds, options);
  }

  /** What the session has changed; undefined when nothing is known of that. */
  async changes(): Promise<SessionChange[] | undefined> {
    return (await this.open())?.changes();
  }

  /** Nothing is kept any more, also where it was still being loaded. */
  close(): void {
    this.isClosed = true;
    this.preparation.cancel();
    this.loaded?.close();
  }

  private async open(): Promise<Checkpoints | undefined> {
    if (!this.options.isKept || this.isClosed) return undefined;
    this.opened ??= openCheckpoints(this.options);
    const checkpoints = await this.opened;
    this.loaded = checkpoints;
    if (!this.isClosed) return checkpoints;
    checkpoints.close();
    return undefined;
  }
}
