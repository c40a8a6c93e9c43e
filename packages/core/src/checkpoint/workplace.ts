import { existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findRealPath } from "../infrastructure/fs/real-path.ts";
import { findStats } from "../infrastructure/fs/stat.ts";
import { ownIdentity } from "../infrastructure/process/tree.ts";
import { now, randomHex } from "../infrastructure/runtime.ts";
import type { BlobStore } from "./store/blobs.ts";
import {
  announcePresence,
  checkpointsDirectory,
  isInUse,
  listGenerations,
  lossLogOf,
  makeGeneration,
  packsOf,
  processesOf,
  projectDirectory,
  sessionOf,
  sessionsOf,
  sizeOf,
} from "./store/location.ts";
import { baseOf, SegmentWriter } from "./store/log.ts";
import {
  CHECKPOINT_LIMITS,
  type CheckpointLimits,
  type CheckpointOptions,
  type CheckpointScope,
} from "./types.ts";

// Digits of a time in milliseconds: names sort correctly until the year 2286.
const TIME_DIGITS = 13;

/** The location of a project's checkpoints, and their limits. */
export interface CheckpointLocation {
  /** The checkpoints of all projects. */
  checkpoints: string;
  project: string;
  scope: CheckpointScope;
  /** See `lossLogOf`. */
  lossLog: string;
  limits: CheckpointLimits;
  /** Absolute paths that are not part of the project: diligent's files about the user. */
  except: ReadonlySet<string>;
}

/** Undefined when the user has no state directory. */
export function findCheckpointLocation({
  root,
  environment,
  limits,
  scope = "project",
}: Pick<CheckpointOptions, "root" | "environment" | "limits" | "scope">): CheckpointLocation | undefined {
  const checkpoints = checkpointsDirectory(environment);
  if (checkpoints === undefined) return undefined;
  return {
    checkpoints,
    project: projectDirectory(checkpoints, root, scope),
    scope,
    lossLog: lossLogOf(checkpoints, root),
    limits: { ...CHECKPOINT_LIMITS, ...limits },
    except: new Set([dirname(checkpoints), findRealPath(dirname(checkpoints), "/") ?? checkpoints]),
  };
}

/** The files in which one process records the changes of one session. */
export class Workplace {
  readonly segment: SegmentWriter;
  private lastAt = 0;

  private constructor(
    readonly generation: string,
    readonly name: string,
    private readonly presence: Disposable,
    { root, sessionId }: Pick<CheckpointOptions, "root" | "sessionId">,
  ) {
    const path = join(sessionOf(generation, sessionId), `${name}.jsonl`);
    this.segment = new SegmentWriter(path, () => {
      const rootIdentity = readRootIdentity(root);
      return { ...ownIdentity(), at: this.nextAt(), sessionId, root, rootIdentity };
    });
  }

  /** @throws errors of the file system. */
  static open(
    { project, limits }: CheckpointLocation,
    options: Pick<CheckpointOptions, "root" | "sessionId">,
  ): Workplace {
    const name = `${String(now()).padStart(TIME_DIGITS, "0")}-${randomHex(4)}`;
    for (let attempt = 1; ; attempt++) {
      const last = listGenerations(project).at(-1);
      const isFull = last === undefined || sizeOf(last) > limits.generationBytes;
      const generation = isFull ? makeGeneration(project, last) : last;
      try {
        return new Workplace(generation, name, announcePresence(generation, name), options);
      } catch (error) {
        // Another process has deleted it at this very moment.
        if (attempt > 2 || existsSync(generation)) throw error;
      }
    }
  }

  /**
   * The time of the next line, in milliseconds: later than every other line of the session, whatever the clock says.
   */
  nextAt(): number {
    this.lastAt = Math.max(now(), this.lastAt + 1);
    return this.lastAt;
  }

  /** @param at the time of a line that another process has written for the session. */
  noticeTime(at: number): void {
    this.lastAt = Math.max(this.lastAt, at);
  }

  get packs(): string {
    return packsOf(this.generation);
  }

  get basePath(): string {
    return baseOf(this.segment.path);
  }

  /** Creates the directory of the log, which is otherwise created with the first line. */
  prepareBase(): void {
    mkdirSync(dirname(this.basePath), { recursive: true, mode: 0o700 });
  }

  /**
   * Deletes the contents that this process has added, unless another one that uses the generation may count on them: it
   * does not store what is there.
   */
  discard(store: BlobStore): void {
    if (isInUse(this.generation, this.name)) store.close();
    else store.discard();
  }

  /** A session that changed nothing leaves nothing on disk. */
  close(): void {
    this.segment.close();
    if (this.segment.isEmpty) removeEmptySession(this.basePath);
    this.presence[Symbol.dispose]();
  }

  /** Deletes all that this process has written here, and the directories that are empty then. */
  erase(store: BlobStore): void {
    this.segment.close();
    this.discard(store);
    rmSync(this.segment.path, { force: true });
    removeEmptySession(this.basePath);
    this.presence[Symbol.dispose]();
    removeEmptyDirectories(this.generation);
  }
}

/** From the inside out, as long as nobody else has something in them. */
function removeEmptyDirectories(generation: string): void {
  const inner = [join(packsOf(generation), "files"), packsOf(generation), processesOf(generation)];
  const project = dirname(generation);
  try {
    for (const directory of [...inner, sessionsOf(generation), generation, project, dirname(project)])
      if (existsSync(directory)) rmdirSync(directory);
  } catch {
    // There are other checkpoints.
  }
}

function removeEmptySession(basePath: string): void {
  rmSync(basePath, { force: true });
  try {
    rmdirSync(dirname(basePath));
  } catch {
    // The session has other files, or the directory never existed.
  }
}

/**
 * The identity of the directory at the project's path: `INODE` and, if the file system provides it, `INODE:BIRTH`
 * (milliseconds). Undefined when there is none. The device number is left out: some systems assign another one at each
 * boot.
 */
export function readRootIdentity(root: string): string | undefined {
  const stats = findStats(root);
  if (!stats?.isDirectory()) return undefined;
  const { ino, birthtimeMs, ctimeMs } = stats;
  // Without a birth time, the system reports the time of the last change.
  const isKnown = birthtimeMs > 0 && birthtimeMs < ctimeMs;
  return isKnown ? `${ino}:${birthtimeMs}` : String(ino);
}

/** False when these are certainly two different directories. */
export function isSameRoot(left: string, right: string): boolean {
  const [leftInode, leftBirth] = left.split(":");
  const [rightInode, rightBirth] = right.split(":");
  if (leftInode !== rightInode) return false;
  return leftBirth === undefined || rightBirth === undefined || leftBirth === rightBirth;
}
