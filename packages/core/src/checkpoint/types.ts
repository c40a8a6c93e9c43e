import type { Environment } from "../infrastructure/runtime.ts";
import type { TreeChange } from "./entries.ts";

/** `repositories`: git's data alone, so that no commit is lost where the files of the project are not recorded. */
export type CheckpointScope = "project" | "repositories";

/** The project and session that are recorded, and the location of the recordings. */
export interface CheckpointOptions {
  /** The project, absolute and real. */
  root: string;
  /** The environment whose user state directory holds the checkpoints. */
  environment: Environment;
  sessionId: string;
  /** The session's entry that the next change belongs to. */
  entryId?(): string | undefined;
  /** Overrides some of `CHECKPOINT_LIMITS`. */
  /** What is recorded; the whole project when left out. */
  scope?: CheckpointScope | undefined;
  /** True: what was recorded is deleted when the session ends, unless commits or refs are missing then. */
  isTemporary?: boolean | undefined;
  limits?: Partial<CheckpointLimits> | undefined;
}

/** A restored path of the project and how it was restored; names that are not valid Unicode contain lone surrogates. */
export interface RestoredPath {
  path: string;
  /** Created, deleted, or given its earlier content, target or permissions. */
  how: "added" | "removed" | "changed";
}

/** A ref that is left as somebody else has made it since. */
export interface DisplacedRef {
  /** As paths of a restoration are given: relative to the project, absolute outside of it. */
  gitDirectory: string;
  /** `refs/heads/main`, or `HEAD`. */
  ref: string;
  /** What it was; hexadecimal. The objects are in the repository. */
  hash: string;
}

/** A path that was not restored in every respect. */
export interface UnlikePath {
  path: string;
  /** Its owner or group could not be restored. */
  isOwnerLost?: boolean | undefined;
  /** It had other names (hard links), and is no longer linked to them. */
  isLinkLost?: boolean | undefined;
}

/** The progress of a restoration: it first checks every path, then restores the paths, or reverts them after a stop. */
export interface MoveProgress {
  doing: "look" | "restore" | "rollBack";
  /** The number of `total` paths that are done. */
  done: number;
  total: number;
}

/** Options of undo and redo. */
export interface MoveOptions {
  /** Only reports what would be done. */
  isDryRun?: boolean | undefined;
  /** For `undo`: undoes the last interrupted turn, as far as changes may be its work. */
  isCutOff?: boolean | undefined;
  /** Once it is aborted, the changes so far are reverted; reverting itself cannot be stopped. */
  signal?: AbortSignal | undefined;
  /** Called now and then during a long restoration. */
  onProgress?: ((progress: MoveProgress) => void) | undefined;
}

/** The result of an undo, redo or jump. All paths are relative to the project and sorted. */
export interface Restoration {
  move: Move;
  restored: readonly RestoredPath[];
  /** Left unchanged because another process has changed them since; `reason` describes that change. */
  conflicts: readonly { path: string; reason: string }[];
  /**
   * Changed too, but not recorded: caches such as `node_modules`, very large or unreadable files. `isControl`: one of
   * diligent's own files, or a pipe.
   */
  notKept: readonly { path: string; isCache: boolean; isControl?: boolean | undefined }[];
  /** Errors of the file system. A retry continues with these paths. */
  failures: readonly { path: string; reason: string }[];
  /** Restored, except for the listed properties. */
  unlike?: readonly UnlikePath[] | undefined;
  /** Conflicts about refs, with their earlier hashes. */
  displacedRefs?: readonly DisplacedRef[] | undefined;
  /** True when it was stopped and has reverted its changes; conflicts and failures are those of reverting. */
  isStopped?: boolean | undefined;
  /** True when an interrupted turn was undone: its changes are a guess. */
  wasCutOff: boolean;
  /** Changes during interrupted turns; left unchanged until `isCutOff` asks for the last of them. */
  leftCutOff?: readonly string[] | undefined;
  /**
   * The duration of its longest call, in milliseconds, if it was long enough for other processes to change files too.
   */
  callMs?: number | undefined;
  /** Caches that one of its calls may have changed below the first level, which is not scanned. */
  unseen?: readonly string[] | undefined;
  /** Diligent's own files that were edited, and pipes that were created: they stay so. */
  touched?: readonly string[] | undefined;
  /** True when the permissions of the project directory itself were changed; they are not restored. */
  isRootChanged?: boolean | undefined;
  /** True when a call created more than can be recorded: not all of its changes are known. */
  isTooLarge?: boolean | undefined;
  /** The number of damaged lines in the session's log: their changes are not restored. */
  damagedLines?: number | undefined;
  /** True when nothing was done, and this is what would be. */
  isDryRun: boolean;
}

/** One version of a path; `content` is undefined for a file without recorded content. */
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

/** A path of the project as it was; undefined means that it did not exist. */
export interface PathState {
  path: string;
  version: PathVersion | undefined;
}

/** A notice for the user. */
export type NoticeSink = (level: "info" | "warning", code: string, message: string) => void;

/** The limits of checkpoints. All sizes are bytes. */
export interface CheckpointLimits {
  /** For the checkpoints of all projects; the oldest are deleted first. */
  storeBytes: number;
  /** A larger project is not recorded. */
  projectBytes: number;
  /** Files, links and directories. */
  projectEntries: number;
  /** Git objects that are copied; in a project with more, commands need approval. */
  objectBytes: number;
  /** Git objects: files and directories. */
  objectCount: number;
  /** Only the fact that a larger file changed is recorded. */
  fileBytes: number;
  /**
   * Once a generation is this large, the next session starts a new one, so that the old one can be deleted as a whole.
   */
  generationBytes: number;
}

const MB = 1024 * 1024;

/**
 * The store has room for two projects of the largest size. Text shrinks to a quarter in it, so most users never lose a
 * checkpoint.
 */
export const CHECKPOINT_LIMITS: CheckpointLimits = {
  storeBytes: 2048 * MB,
  projectBytes: 1024 * MB,
  projectEntries: 200_000,
  objectBytes: 256 * MB,
  objectCount: 100_000,
  fileBytes: 50 * MB,
  generationBytes: 512 * MB,
};

/** A recorded change of the project by this session. */
export interface Step {
  id: string;
  /** Milliseconds since the epoch; no two steps of a session have the same. */
  at: number;
  /**
   * `run`: the calls of one turn of the model. `undo`, `redo`, `jump`: everything from `to` on was reverted. `partial`:
   * the same, but not completely.
   */
  kind: "run" | Move | "partial";
  /** The agent run, for `run`. */
  run?: string | undefined;
  /** The session's entry that the changes belong to, for `run`. */
  entryId?: string | undefined;
  /** For `partial`: the requested restoration. */
  move?: Move | undefined;
  /** The step whose beginning is the state that was restored, for the others. */
  to?: string | undefined;
  changes: readonly TreeChange[];
  /** Changes in the same time that are not known to be the session's work: they are never undone with it. */
  foreign?: readonly TreeChange[] | undefined;
  /** For `run`: it was interrupted, so its changes are a guess. For the others: only such a step was undone. */
  isCutOff?: boolean | undefined;
  /** Additions that are never removed: git objects, new repositories. */
  arrived?: readonly TreeChange[] | undefined;
  /** The duration of the call in milliseconds, if other processes could have changed files meanwhile. */
  callMs?: number | undefined;
  /** The only path that a call of a file tool has changed, besides directories above it. */
  written?: string | undefined;
  /** More was created than can be recorded. */
  isTooLarge?: boolean | undefined;
  /** True when the permissions of the project's own directory were changed. */
  isRootChanged?: boolean | undefined;
  /** Caches that the call may have changed below the first level, which is not scanned. */
  unseen?: readonly string[] | undefined;
  /** Diligent's own files that were edited during the call: they stay so. */
  touched?: readonly string[] | undefined;
  /** True for a step that reverts an incomplete `to`: the state is the same before and after both. */
  isRollBack?: boolean | undefined;
  /** True for changes of a stopped or interrupted restoration that were found afterwards. */
  isAdopted?: boolean | undefined;
  /** The identity of the project directory afterwards; see `readRootIdentity`. */
  rootIdentity?: string | undefined;
}

/** `undo` reverts changes, `redo` restores them, `jump` restores another point of the conversation. */
export type Move = "undo" | "redo" | "jump";

/** A turn of the model that has started to change files. */
export interface OpenTurn {
  at: number;
  run: string;
  entryId?: string | undefined;
  /** The only path that the call changes, if known. */
  written?: string | undefined;
  /** The changes of the project since the last line of its log, or since the base, from any process. */
  changes: readonly TreeChange[];
  /** As in `Step`. */
  arrived?: readonly TreeChange[] | undefined;
}

/** A restoration in progress. It is written before, so that it can be completed after a crash. */
export interface Restoring {
  /** The id of the step that follows when it is done. */
  id: string;
  to: string;
  /** As in `Step`. */
  at: number;
  move: Move;
  isCutOff?: boolean | undefined;
  /** As in `Step`. */
  isRollBack?: boolean | undefined;
  /** The planned changes. */
  changes: readonly TreeChange[];
  /** The name of a file while it is written next to the one it replaces. */
  temporaryName: string;
  /** The directories that may contain it; "" is the project itself. */
  directories: readonly string[];
  /** Directories that had to be made writable, with their former modes. */
  opened: readonly (readonly [path: string, mode: number])[];
  /** Files that are rewritten in place because they have other names. */
  inPlace: readonly string[];
}

const NAMES: Readonly<Record<Move, string>> = {
  undo: "An undo",
  redo: "A redo",
  jump: "A jump to another point of the conversation",
};

/**
 * The message for the user about a restoration that was interrupted, and how to resolve it. @param commands the names
 * of the commands for that.
 */
export function describeInterruptedRestore(move: Move, commands = { undo: "undo", redo: "redo" }): string {
  const same = move === "jump" ? "the same jump" : commands[move];
  const other = move === "redo" ? commands.undo : commands.redo;
  const state = `${NAMES[move]} was interrupted: some files are as before it, others as after it.`;
  return `${state} Until the session changes something again, ${same} continues it, and ${other} reverts it.`;
}
