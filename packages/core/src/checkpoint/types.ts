import type { Environment } from "../infrastructure/environment.ts";
import type { CheckpointLimits } from "./limits.ts";
import type { Move } from "./timeline/types.ts";

/** Whose checkpoints they are, and where they lie. */
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

/** A path that was restored, but not in every way as it was. */
export interface UnlikePath {
  path: string;
  /** Its owner or group is another one than it had. */
  isOwnerLost?: boolean | undefined;
  /** It had other names (hard links), and is no longer the same file as those. */
  isLinkLost?: boolean | undefined;
}

/** How far taking something back has come: it looks at every path first, then restores them; or puts all of it back. */
export interface MoveProgress {
  doing: "look" | "restore" | "rollBack";
  /** Of `total` paths, or steps with them. */
  done: number;
  total: number;
}

/** How something is taken back or brought back. */
export interface MoveOptions {
  /** Only says what would be done. */
  isDryRun?: boolean | undefined;
  /** For `undo`: takes back the last turn that was cut off, as far as it may be its work. */
  isCutOff?: boolean | undefined;
  /** Once it is aborted, what was done so far is put back; that itself is not stopped. */
  signal?: AbortSignal | undefined;
  /** Told now and then, where it takes a while. */
  onProgress?: ((progress: MoveProgress) => void) | undefined;
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
  /** Restored, but for what is said of each. */
  unlike?: readonly UnlikePath[] | undefined;
  /** True when it was stopped, and put back what it had done; conflicts and failures are those of putting it back. */
  isStopped?: boolean | undefined;
  /** True when a turn that had been cut off was taken back: what it did is a guess. */
  wasCutOff: boolean;
  /** What has changed while turns went on that were cut off; left as it is, until `isCutOff` asks for the last of them. */
  leftCutOff?: readonly string[] | undefined;
  /** The longest call of it, in milliseconds, in which others could have changed something too, where that is long. */
  callMs?: number | undefined;
  /** Caches that a call of it could have changed deep inside, where nobody looks. */
  unseen?: readonly string[] | undefined;
  /** What belongs to git or to us, such as `.git`, in which something was edited, and pipes that were made: they stay so. */
  touched?: readonly string[] | undefined;
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
