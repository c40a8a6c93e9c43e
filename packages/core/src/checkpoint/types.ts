import type { Environment } from "../infrastructure/runtime.ts";
import type { TreeChange } from "./entries.ts";

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
  /** Left unchanged, because someone else has changed them since; with a description of that change. */
  conflicts: readonly { path: string; reason: string }[];
  /**
   * Changed too, but not kept: caches such as `node_modules`, very large files, what may not be
   * read. `isControl`: it is ours, or a pipe.
   */
  notKept: readonly { path: string; isCache: boolean; isControl?: boolean | undefined }[];
  /** Errors of the file system. A retry continues with these paths. */
  failures: readonly { path: string; reason: string }[];
  /** Restored, but for what is said of each. */
  unlike?: readonly UnlikePath[] | undefined;
  /** True when it was stopped, and put back what it had done; conflicts and failures are those of putting it back. */
  isStopped?: boolean | undefined;
  /** True when a turn that had been cut off was taken back: what it did is a guess. */
  wasCutOff: boolean;
  /** Changes during interrupted turns; left unchanged until `isCutOff` asks for the last of them. */
  leftCutOff?: readonly string[] | undefined;
  /** The longest call of it, in milliseconds, in which others could have changed something too, where that is long. */
  callMs?: number | undefined;
  /** Caches that a call of it could have changed deep inside, where nobody looks. */
  unseen?: readonly string[] | undefined;
  /** What belongs to us, in which something was edited, and pipes that were made: they stay so. */
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

/** A notice for the user. */
export type NoticeSink = (level: "info" | "warning", code: string, message: string) => void;

/** The limits of checkpoints. All sizes are bytes. */
export interface CheckpointLimits {
  /** All checkpoints of all projects; the oldest go first. */
  storeBytes: number;
  /** A project with more in it cannot be kept. */
  projectBytes: number;
  /** Files, links and directories. */
  projectEntries: number;
  /** What is copied of git's objects; of a project with more, commands ask. */
  objectBytes: number;
  /** Of git's objects: files and directories. */
  objectCount: number;
  /** Of a larger file only that it changed is noticed. */
  fileBytes: number;
  /** Once so much lies in one place, the next session begins a new one, so that the old one can go as a whole. */
  generationBytes: number;
}

const MB = 1024 * 1024;

/**
 * Two projects of the largest size fit into the store. Text takes a quarter of its size in it, so that for most people
 * nothing is ever dropped.
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

/** What was done to the project at one time, as far as this session did it. */
export interface Step {
  id: string;
  /** Milliseconds since the epoch; no two steps of a session have the same. */
  at: number;
  /**
   * `run`: the calls of one turn of the model. `undo`, `redo`, `jump`: everything from `to` on was taken back. `partial`:
   * the same, but not all of it could be.
   */
  kind: "run" | Move | "partial";
  /** Which run of the agent, for `run`. */
  run?: string | undefined;
  /** The session's entry that the changes belong to, for `run`. */
  entryId?: string | undefined;
  /** For `partial`: what was being done. */
  move?: Move | undefined;
  /** The step whose beginning is the state that was restored, for the others. */
  to?: string | undefined;
  changes: readonly TreeChange[];
  /** What has changed meanwhile too, and is not known to be the session's work: it is never taken back with it. */
  foreign?: readonly TreeChange[] | undefined;
  /** For `run`: it was cut off, so its changes are a guess. For the others: only such a step was undone. */
  isCutOff?: boolean | undefined;
  /** What has come meanwhile and is never taken away: git's objects, new repositories. */
  arrived?: readonly TreeChange[] | undefined;
  /** How long the call took, in milliseconds, where anybody could have changed something meanwhile. */
  callMs?: number | undefined;
  /** The only path, beside directories above it, that a call of a file tool has changed. */
  written?: string | undefined;
  /** More came into being than can be kept. */
  isTooLarge?: boolean | undefined;
  /** True when the permissions of the project's own directory were changed. */
  isRootChanged?: boolean | undefined;
  /** Caches that the call could have changed deep inside, where nobody looks. */
  unseen?: readonly string[] | undefined;
  /** What belongs to us and was edited during the call: it stays so. */
  touched?: readonly string[] | undefined;
  /** True for a step that reverts an incomplete `to`: the state is the same before and after both. */
  isRollBack?: boolean | undefined;
  /** True for what was found to have been done by a restoration that was stopped or cut off. */
  isAdopted?: boolean | undefined;
  /** Which directory the project is then; see `root-identity.ts`. */
  rootIdentity?: string | undefined;
}

/** `undo` takes back, `redo` brings back, `jump` leads to another place of the conversation. */
export type Move = "undo" | "redo" | "jump";

/** A turn of the model has begun to change things. */
export interface OpenTurn {
  at: number;
  run: string;
  entryId?: string | undefined;
  /** The only path that the call changes, where it is known. */
  written?: string | undefined;
  /** What has become of the project since the last line of its log, or the base; by whom is not known. */
  changes: readonly TreeChange[];
  /** As steps have it. */
  arrived?: readonly TreeChange[] | undefined;
}

/** Files are being put back. It is written before, so that whoever comes after a crash can complete it. */
export interface Restoring {
  /** That of the step that follows once it is done. */
  id: string;
  to: string;
  /** As steps have it. */
  at: number;
  move: Move;
  isCutOff?: boolean | undefined;
  /** As steps have it. */
  isRollBack?: boolean | undefined;
  /** What is to become of which path. */
  changes: readonly TreeChange[];
  /** The name that a file has while it is written beside the one it replaces. */
  temporaryName: string;
  /** The directories in which that may be; "" is the project itself. */
  directories: readonly string[];
  /** Directories that had to be made writable, with the modes they had. */
  opened: readonly (readonly [path: string, mode: number])[];
  /** Files that are written in place, since they have other names too. */
  inPlace: readonly string[];
}

const NAMES: Readonly<Record<Move, string>> = {
  undo: "An undo",
  redo: "A redo",
  jump: "A jump to another place",
};

/**
 * A message for the user: files were left in an intermediate state, and how to resolve it. @param commands the
 * names of the commands for that.
 */
export function describeInterruptedRestore(move: Move, commands = { undo: "undo", redo: "redo" }): string {
  const same = move === "jump" ? "the same jump" : commands[move];
  const other = move === "redo" ? commands.undo : commands.redo;
  const state = `${NAMES[move]} was interrupted: some files are as before it, others as after it.`;
  return `${state} Until the session changes something again, ${same} continues it, and ${other} reverts it.`;
}
