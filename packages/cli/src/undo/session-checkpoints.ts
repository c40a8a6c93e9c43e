import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  type CheckpointOptions,
  type Checkpoints,
  type MoveProgress,
  openCheckpoints,
  type Restoration,
  type SessionChange,
} from "@diligent/core/light";
import type { ChangeKeeper, StreamFunction } from "@diligent/core/run";

// By then the first request has been sent, if the model has not begun to answer before.
const REQUEST_MS = 300;

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

export interface UndoOptions extends MoveControl {
  isDryRun?: boolean;
  /** Takes back the last turn that was cut off. */
  isCutOff?: boolean;
}

/** A session's checkpoints, loaded when they are needed: beside the first request, never before it. */
export class SessionCheckpoints implements ChangeKeeper {
  private opened: Promise<Checkpoints> | undefined;
  private loaded: Checkpoints | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isPrepared = false;
  private isClosed = false;

  constructor(private readonly options: SessionCheckpointsOptions) {}

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

  /** Lets the project be kept beside the first request of the conversation. */
  wrap(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const answer = stream(model, context, options);
      const { isKept, isChanging } = this.options;
      if (this.isPrepared || !isKept || !isChanging || options.purpose === "summary") return answer;
      this.isPrepared = true;
      this.timer = setTimeout(() => this.prepare(), REQUEST_MS);
      const unsubscribe = answer.subscribe(() => {
        unsubscribe();
        this.prepare();
      });
      return answer;
    };
  }

  async beforeChanges(change: Parameters<ChangeKeeper["beforeChanges"]>[0]): Promise<void> {
    const checkpoints = await this.open();
    const { writes, ...more } = change;
    const written = writes === undefined ? undefined : this.toProjectPath(writes);
    await checkpoints?.beforeChanges({ ...more, ...(written !== undefined && { written }) });
  }

  /**
   * Keeps the project, if that was not done yet. What `canUndo` and `canUndoEverything` say holds from then on, so that
   * nobody decides about a command before; it would have to wait for this in any case.
   */
  async makeReady(): Promise<void> {
    const checkpoints = await this.open();
    if (checkpoints === undefined || !this.options.isChanging) return;
    clearTimeout(this.timer);
    await checkpoints.prepare();
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

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.loaded?.close();
  }

  /** Undefined outside of the project: then anything may be changed. */
  private toProjectPath(written: string): string | undefined {
    const absolute = findRealPlace(resolve(this.options.cwd, written));
    const path = absolute === undefined ? "" : relative(this.options.root, absolute);
    return path === "" || path.startsWith("..") || isAbsolute(path) ? undefined : path;
  }

  private prepare(): void {
    clearTimeout(this.timer);
    void this.open().then((checkpoints) => checkpoints?.prepare());
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

/** Where a path really leads, as far as it exists. */
function findRealPlace(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    const real = parent === path ? undefined : findRealPlace(parent);
    return real && join(real, basename(path)); // It, or a part of the way to it, is yet to be made.
  }
}
