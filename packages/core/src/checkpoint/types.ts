import type { Environment } from "../infrastructure/environment.ts";
import type { CheckpointLimits } from "./limits.ts";
import type { Move } from "./timeline/types.ts";

export interface CheckpointOptions {
  /** The project, absolute and real. */
  root: string;
  /** Its user state directory holds the checkpoints. */
  environment: Environment;
  sessionId: string;
  /** The entry of the session that the next change belongs to. */
  entryId?(): string | undefined;
  /** In place of some of `CHECKPOINT_LIMITS`. */
  limits?: Partial<CheckpointLimits> | undefined;
}

/** A path of the project with what came of it; names that are no text hold lone surrogates. */
export interface RestoredPath {
  path: string;
  /** Brought back, taken away, or given its earlier content, target or permissions. */
  how: "added" | "removed" | "changed";
}

/** What came of taking something back. All paths are relative to the project and sorted. */
export interface Restoration {
  move: Move;
  restored: readonly RestoredPath[];
  /** Left as they are, since somebody else has changed them since; with what they have done, in words. */
  conflicts: readonly { path: string; reason: string }[];
  /**
   * Changed too, but not kept: caches such as `node_modules`, very large files, what may not be
   * read. `isControl`: it is git's or ours, or a pipe.
   */
  notKept: readonly { path: string; isCache: boolean; isControl?: boolean | undefined }[];
  /** What the file system refused, in words. Trying again goes on with these. */
  failures: readonly { path: string; reason: string }[];
  /** True when a turn that had been cut off was taken back: what it did is a guess. */
  wasCutOff: boolean;
  /** What has changed while turns went on that were cut off; left as it is, until `isCutOff` asks for the last of them. */
  leftCutOff?: readonly string[] | undefined;
  /** The longest call of it, in milliseconds, in which others could have changed something too, where that is long. */
  callMs?: number | undefined;
  /** Caches that a call of it could have changed deep inside, where nobody looks. */
  unseen?: readonly string[] | undefined;
  /** True when it changed the permissions of the project's own directory, which stay so. */
  isRootChanged?: boolean | undefined;
  /** True when a call of it made more than can be kept: not all of that is known. */
  isTooLarge?: boolean | undefined;
  /** How many lines of the session's log are damaged: what they told of stays as it is. */
  damagedLines?: number | undefined;
  /** True when nothing was done, and this is what would be. */
  isDryRun: boolean;
}

/** One version of a path; `content` is undefined for a file that is not kept. */
export type PathVersion =
  | { kind: "file"; mode: number; size: number; content: Uint8Array | undefined }
  | { kind: "link"; target: string }
  | { kind: "directory"; mode: number }
  | { kind: "other" };

/** A path that the session has changed: before its first change, and now. */
export interface SessionChange {
  path: string;
  before: PathVersion | undefined;
  now: PathVersion | undefined;
}

/** Something the user should know. */
export type NoticeSink = (level: "info" | "warning", code: string, message: string) => void;
