import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ChangeTracker } from "../agent/types.ts";
import type { Checkpoints } from "../checkpoint/checkpoints.ts";
import { openCheckpoints } from "../checkpoint/load.ts";
import type { CheckpointOptions, MoveProgress, Restoration, SessionChange } from "../checkpoint/types.ts";
import type { StreamFunction } from "../provider/types.ts";

// By then the first request has been sent. An answer in words that ends earlier needs no recording.
const REQUEST_MS = 300;

/** The dependencies of a `CheckpointPreparation`. */
export interface PreparationDeps {
  /** Undefined when nothing is recorded. */
  open(): Promise<{ prepare(): Promise<void> } | undefined>;
  /** False when no tool changes files: then nothing is prepared. */
  isChanging: boolean;
}

/** Records the project before its first change: during the first request, never before it. */
export class CheckpointPreparation {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isBegun = false;

  constructor(private readonly parts: PreparationDeps) {}

  /** Requests pass unchanged; the first one of the conversation starts the preparation. */
  wrap(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const answer = stream(model, context, options);
      if (this.isBegun || !this.parts.isChanging || options.purpose) return answer;
      this.isBegun = true;
      this.timer = setTimeout(() => this.prepare(), REQUEST_MS);
      const unsubscribe = answer.subscribe(({ type }) => {
        if (type !== "tool_call_start") return;
        unsubscribe();
        this.prepare();
      });
      return answer;
    };
  }

  /**
   * Records the project unless it is recorded. `canUndo` and `canUndoEverything` are accurate afterwards; commands are
   * evaluated after that, since they would have to wait for the recording in any case.
   */
  async ensureRecorded(): Promise<void> {
    const checkpoints = await this.parts.open();
    if (checkpoints === undefined || !this.parts.isChanging) return;
    this.cancel();
    await checkpoints.prepare();
  }

  /** Cancels the automatic start. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private prepare(): void {
    this.cancel();
    void this.parts.open().then((checkpoints) => checkpoints?.prepare());
  }
}

/** The session and project, and whether checkpoints are recorded. */
export interface SessionCheckpointsOptions extends CheckpointOptions {
  /**
   * False: the session must not write anything. Then only repositories are recorded, until it ends or for as long as
   * something is missing in one.
   */
  isKept: boolean;
  /** False when no tool changes files: then nothing is prepared. */
  isChanging: boolean;
  /** The directory that relative paths of tools start from; absolute. */
  cwd: string;
}

/** Controls a restoration; it can be stopped, and then reverts its changes. */
export interface MoveControl {
  signal?: AbortSignal;
  /** Called now and then during a long restoration. */
  onProgress?: (progress: MoveProgress) => void;
}

/** Options of an undo within a session. */
export interface UndoOptions extends MoveControl {
  /** Only reports what would be done. */
  isDryRun?: boolean;
  /** Undoes the last interrupted turn. */
  isCutOff?: boolean;
}

/** A session's checkpoints, loaded on first use. */
export class SessionCheckpoints implements ChangeTracker {
  /** Starts the first recording of the project. */
  readonly preparation: CheckpointPreparation;
  private opened: Promise<Checkpoints> | undefined;
  private loaded: Checkpoints | undefined;
  private isClosed = false;
  /** The calls that are changing something: those of sub-agents run side by side. */
  private callsUnderWay = 0;
  /** Resolves when the state before them is recorded; undefined if it only covers a single file. */
  private recordedStart: Promise<void> | undefined;

  constructor(private readonly options: SessionCheckpointsOptions) {
    const { isChanging } = options;
    this.preparation = new CheckpointPreparation({ open: () => this.open(), isChanging });
  }

  /** False once it is known that changes from now on cannot be undone. */
  get canUndo(): boolean {
    return this.options.isKept && (this.loaded?.canUndo ?? true);
  }

  /** False also if the project contains files that are too large to be recorded, or not readable. */
  get canUndoEverything(): boolean {
    return this.canUndo && (this.loaded?.unrecorded.length ?? 0) === 0;
  }

  /** False once it is known that commits and refs which a command removes could not be restored. */
  get canRestoreHistory(): boolean {
    return this.loaded?.canRestoreHistory ?? true;
  }

  /** The reason, as a clause that fits after a colon; undefined while undo works. */
  get reason(): string | undefined {
    return this.options.isKept ? this.loaded?.reason : "this session writes nothing to disk";
  }

  /** Calls that overlap are recorded as one change: what each of them has written is not known then. */
  beforeChanges(change: Parameters<ChangeTracker["beforeChanges"]>[0]): Promise<void> {
    this.callsUnderWay += 1;
    const isAlone = this.callsUnderWay === 1;
    if (!isAlone && !change.isFirst && this.recordedStart) return this.recordedStart;
    const { writes, ...wider } = change;
    const recorded = this.recordStart(isAlone ? change : wider);
    this.recordedStart = isAlone && writes !== undefined ? undefined : recorded;
    return recorded;
  }

  afterChanges(): void {
    this.callsUnderWay -= 1;
    if (this.callsUnderWay > 0) return;
    this.recordedStart = undefined;
    this.loaded?.afterChanges();
  }

  private async recordStart(change: Parameters<ChangeTracker["beforeChanges"]>[0]): Promise<void> {
    const { writes, ...more } = change;
    // What a file tool writes is no part of a repository.
    if (!this.options.isKept && writes !== undefined) return;
    const checkpoints = await this.open();
    // Without a path, any file may be changed.
    const written = writes === undefined ? undefined : toProjectPath(writes, this.options);
    await checkpoints?.beforeChanges({ ...more, ...(written !== undefined && { written }) });
  }

  async countChanges(): Promise<number | undefined> {
    return this.options.isKept ? this.loaded?.countChanges() : undefined;
  }

  async settled(): Promise<void> {
    await this.loaded?.settled();
  }

  /** Undefined when there is nothing to undo. @throws Error when undo is not possible now. */
  async undo(options?: UndoOptions): Promise<Restoration | undefined> {
    return (await this.openForMove())?.undo(options);
  }

  /** Undefined when there is nothing to redo. @throws Error when redo is not possible now. */
  async redo(options?: Omit<UndoOptions, "isCutOff">): Promise<Restoration | undefined> {
    return (await this.openForMove())?.redo(options);
  }

  /** Restores the files to their state at an entry of the conversation; undefined when they are in that state. */
  async jump(
    entryIds: ReadonlySet<string>,
    options?: Omit<UndoOptions, "isCutOff">,
  ): Promise<Restoration | undefined> {
    return this.options.isKept ? (await this.open())?.jump(entryIds, options) : undefined;
  }

  /** The session's changes; undefined when nothing was recorded. */
  async changes(): Promise<SessionChange[] | undefined> {
    return this.options.isKept ? (await this.open())?.changes() : undefined;
  }

  /** Stops recording, even while it is being loaded. */
  close(): void {
    this.isClosed = true;
    this.preparation.cancel();
    this.loaded?.close();
  }

  /** Undefined where there is nothing to restore: a session that is not kept only brings back what was lost. */
  private async openForMove(): Promise<Checkpoints | undefined> {
    return this.options.isKept || this.loaded?.hasLosses ? this.open() : undefined;
  }

  private async open(): Promise<Checkpoints | undefined> {
    if (this.isClosed) return undefined;
    const { isKept, ...options } = this.options;
    this.opened ??= openCheckpoints(
      isKept ? options : { ...options, scope: "repositories", isTemporary: true },
    );
    const checkpoints = await this.opened;
    this.loaded = checkpoints;
    if (!this.isClosed) return checkpoints;
    checkpoints.close();
    return undefined;
  }
}

/**
 * Resolves a path to one relative to the project root, with links followed; undefined outside the project, and for the
 * root itself.
 * @param place `cwd`: the directory of relative paths, absolute. `root`: the project, absolute and real.
 */
function toProjectPath(path: string, { cwd, root }: { cwd: string; root: string }): string | undefined {
  const absolute = findRealLocation(resolve(cwd, path));
  const found = absolute === undefined ? "" : relative(root, absolute);
  return found === "" || found.startsWith("..") || isAbsolute(found) ? undefined : found;
}

/** The real path, as far as the path exists. */
function findRealLocation(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    const real = parent === path ? undefined : findRealLocation(parent);
    return real && join(real, basename(path)); // The path, or a part of it, does not exist yet.
  }
}
