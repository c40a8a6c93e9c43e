import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ChangeTracker } from "../agent/types.ts";
import type { Checkpoints } from "../checkpoint/checkpoints.ts";
import { openCheckpoints } from "../checkpoint/load.ts";
import type { CheckpointOptions, MoveProgress, Restoration, SessionChange } from "../checkpoint/types.ts";
import type { StreamFunction } from "../provider/types.ts";

// By then the first request has been sent, if the model has not begun to answer before.
const REQUEST_MS = 300;

/** What a `CheckpointPreparation` works with. */
export interface PreparationDeps {
  /** Undefined where nothing is kept. */
  open(): Promise<{ prepare(): Promise<void> } | undefined>;
  /** False where nothing of the session is to be written. */
  isKept: boolean;
  /** False where no tool changes anything: then nothing is made ready. */
  isChanging: boolean;
}

/** Lets the project be kept as it is before its first change: beside the first request, never before it. */
export class CheckpointPreparation {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isBegun = false;

  constructor(private readonly parts: PreparationDeps) {}

  /** Requests go through unchanged; the first of the conversation begins the preparation. */
  wrap(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const answer = stream(model, context, options);
      const { isKept, isChanging } = this.parts;
      if (this.isBegun || !isKept || !isChanging || options.purpose) return answer;
      this.isBegun = true;
      this.timer = setTimeout(() => this.prepare(), REQUEST_MS);
      const unsubscribe = answer.subscribe(() => {
        unsubscribe();
        this.prepare();
      });
      return answer;
    };
  }

  /**
   * Keeps the project, if that was not done yet. What `canUndo` and `canUndoEverything` say holds from then on, so that
   * nobody decides about a command before; it would have to wait for this in any case.
   */
  async makeReady(): Promise<void> {
    const checkpoints = await this.parts.open();
    if (checkpoints === undefined || !this.parts.isChanging) return;
    this.cancel();
    await checkpoints.prepare();
  }

  /** It does not begin any more by itself. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private prepare(): void {
    this.cancel();
    void this.parts.open().then((checkpoints) => checkpoints?.prepare());
  }
}

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
export class SessionCheckpoints implements ChangeTracker {
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
    return this.canUndo && (this.loaded?.unrecorded.length ?? 0) === 0;
  }

  /** Why not, in words that fit behind a colon; undefined where it is not known to be so. */
  get reason(): string | undefined {
    return this.options.isKept ? this.loaded?.reason : "this session writes nothing to disk";
  }

  async beforeChanges(change: Parameters<ChangeTracker["beforeChanges"]>[0]): Promise<void> {
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

/**
 * The place in the project that a path leads to, links followed, as a path from the project's root on; undefined outside of
 * the project, and for the root itself.
 * @param place `cwd`: where relative paths begin, absolute. `root`: the project, absolute and real.
 */
function toProjectPath(path: string, { cwd, root }: { cwd: string; root: string }): string | undefined {
  const absolute = findRealLocation(resolve(cwd, path));
  const found = absolute === undefined ? "" : relative(root, absolute);
  return found === "" || found.startsWith("..") || isAbsolute(found) ? undefined : found;
}

/** Where a path really leads, as far as it exists. */
function findRealLocation(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    const real = parent === path ? undefined : findRealLocation(parent);
    return real && join(real, basename(path)); // It, or a part of the way to it, is yet to be made.
  }
}
