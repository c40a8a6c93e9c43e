import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { TimeSlicer } from "../../infrastructure/async.ts";
import { withDirectoryLock } from "../../infrastructure/fs/directory-lock.ts";
import { MovedPathError } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { hasExtendedAttributes } from "../../infrastructure/fs/write.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import {
  type FileEntry,
  hasSameContent,
  isSameState,
  type TreeChange,
  type TreeEntry,
  toAbsolute,
} from "../entries.ts";
import type { BlobStore } from "../store/blobs.ts";
import { isOpposite, type PlannedChange } from "../timeline.ts";
import type { Move, Restoring, Step, UnlikePath } from "../types.ts";
import { type EvaluateOptions, type Evaluation, type Present, readEntryAt } from "./evaluate-change.ts";
import { ChangedMeanwhileError, NotEmptyError, TreeWriter } from "./tree-writer.ts";

const WRITE_AND_SEARCH = 0o300;

/** The plan that is recorded before anything is restored. */
export function planRestoring(
  root: string,
  wanted: readonly Restore[],
  names: Pick<Restoring, "id" | "to" | "at" | "move" | "isCutOff" | "isRollBack" | "temporaryName">,
): Restoring {
  const writer = new TreeWriter(root, names.temporaryName);
  const directories = [...new Set(wanted.map(({ change }) => parentOf(change.path)))].sort();
  const opened = directories.flatMap((path): [string, number][] => {
    const mode = path === "" ? undefined : writer.directoryMode(path);
    const isOpen = mode === undefined || (mode & WRITE_AND_SEARCH) === WRITE_AND_SEARCH;
    return isOpen ? [] : [[path, mode]];
  });
  const inPlace = wanted.filter((each) => isWrittenInPlace(root, each)).map(({ change }) => change.path);
  const changes = wanted.map(({ change: { path, target }, present }) => ({
    path,
    before: present,
    after: target,
  }));
  return { ...names, directories, opened, inPlace, changes };
}

/** How paths are restored; a restoration can be stopped between two of them. */
interface RestoreOptions extends WorkOptions {
  /** Once it is aborted, the remaining paths are left unchanged. */
  signal?: AbortSignal | undefined;
  /** Called now and then with the number of finished paths. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Restores paths one after the other: removes from the inside out, then creates from the outside in. Undefined when it
 * was stopped: then some paths are restored, each completely or not at all.
 */
export async function restoreChanges(
  wanted: readonly Restore[],
  options: RestoreOptions,
): Promise<RestoredPaths | undefined> {
  const work = new RestoreWork(options);
  const outsideIn = [...wanted].sort((left, right) =>
    compareByCharacter(left.change.path, right.change.path),
  );
  const insideOut = outsideIn.toReversed().filter((each) => each.present && isOtherKind(each));
  const inside = outsideIn.filter((each) => each.change.target);
  const tasks = [
    ...insideOut.map((each) => () => work.attempt(each, () => work.remove(each))),
    ...inside.map((each) => () => work.attempt(each, () => work.putIn(each))),
  ];
  work.openDirectories();
  let isWhole = false;
  try {
    isWhole = await runTasks(tasks, options);
  } finally {
    await work.closeDirectories(outsideIn);
  }
  return isWhole ? work.finish(outsideIn) : undefined;
}

/** False when it was stopped. */
async function runTasks(
  tasks: readonly (() => Promise<void>)[],
  { signal, onProgress }: Pick<RestoreOptions, "signal" | "onProgress">,
): Promise<boolean> {
  const slices = new TimeSlicer();
  for (const [index, task] of tasks.entries()) {
    if (slices.isDue) {
      onProgress?.(index, tasks.length);
      await slices.pause();
    }
    if (signal?.aborted) return false;
    await task();
  }
  return true;
}

function isOtherKind({ present, change }: Restore): boolean {
  return present?.kind !== change.target?.kind;
}

/** Removes the temporary files of an interrupted restoration. */
export function removeTemporaries(root: string, { temporaryName, directories }: Restoring): void {
  const writer = new TreeWriter(root, temporaryName);
  for (const directory of directories) writer.removeTemporary(directory, temporaryName);
}

/** Restores the modes of the directories that an interrupted restoration had opened, unless they were changed since. */
export function closeOpened(root: string, { temporaryName, opened }: Restoring): void {
  const writer = new TreeWriter(root, temporaryName);
  for (const [path, mode] of opened.toReversed())
    if (writer.directoryMode(path) === (mode | OPEN_MODE)) setQuietly(() => writer.setMode(path, mode));
}

/** A new file in its place would lose its other names, its owner or its attributes. */
function isWrittenInPlace(root: string, { change: { path, target }, present }: Restore): boolean {
  if (present?.kind !== "file" || target?.kind !== "file" || !path.isWellFormed()) return false;
  const absolute = toAbsolute(root, path);
  const stats = findStats(toSystemPath(absolute));
  if (!stats) return false;
  return stats.nlink > 1 || stats.uid !== process.geteuid?.() || hasExtendedAttributes(absolute);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

const PRIVATE_DIRECTORY = 0o700;

/**
 * Finds the changes that a stopped or interrupted restoration has made. A path that is in neither its old nor its new
 * state, nor certainly in between, is left out: another process has changed it since.
 * @param wanted the current request: in the opposite direction, such a path is a conflict.
 */
export async function adoptRestoring(
  restoring: Restoring,
  wanted: Move,
  options: EvaluateOptions,
): Promise<Omit<Step, "at">> {
  const slices = new TimeSlicer();
  const { id, to, move, isCutOff, isRollBack } = restoring;
  const changes: TreeChange[] = [];
  for (const change of restoring.changes) {
    if (slices.isDue) await slices.pause();
    const present = await readEntryAt(change.path, options);
    if (present?.kind === "special" || present?.kind === "unknown") continue;
    if (isSameState(present, change.before)) continue;
    if (isSameState(present, change.after) || isInTransition(present, change, { restoring, options }))
      changes.push({ ...change, after: present });
    // In the opposite direction it is a conflict; in the same direction it is one anyway.
    else if (!isRollBack && isOpposite(move, wanted)) changes.push(change);
  }
  return {
    id,
    to,
    move,
    isCutOff,
    isAdopted: true,
    ...(isRollBack && { isRollBack }),
    kind: "partial",
    changes,
  };
}

function isInTransition(
  present: Exclude<Present, { kind: "special" } | { kind: "unknown" }>,
  { path, before, after }: TreeChange,
  { restoring, options }: { restoring: Restoring; options: EvaluateOptions },
): boolean {
  // The old entry of another kind had been removed, and the new one was not created yet.
  if (present === undefined) return before !== undefined && after !== undefined && before.kind !== after.kind;
  if (present.kind === "directory") {
    if (after?.kind === "directory" && before?.kind !== "directory")
      return present.mode === PRIVATE_DIRECTORY;
    return restoring.opened.some(
      ([each, mode]) => each === path && present.mode === (mode | PRIVATE_DIRECTORY),
    );
  }
  return (
    present.kind === "file" &&
    restoring.inPlace.includes(path) &&
    isHalfWritten(present, { before, after }, options)
  );
}

/** True for a content in which every byte comes from the old or the new content, as a rewrite in place leaves it. */
function isHalfWritten(
  present: Extract<TreeEntry, { kind: "file" }>,
  { before, after }: Pick<TreeChange, "before" | "after">,
  { store }: EvaluateOptions,
): boolean {
  if (before?.kind !== "file" || after?.kind !== "file") return false;
  const [old, wanted, now] = [before.hash, after.hash, present.hash].map((hash) =>
    hash === undefined ? undefined : store.read(hash)?.slice(),
  );
  if (!old || !wanted || !now || now.length < 1) return false;
  // The mode is set last.
  if (isSameBytes(now, wanted)) return true;
  let same = 0;
  while (same < now.length && now[same] === wanted[same]) same++;
  // The rest is still the old content; the part beyond its end was written first.
  return (
    isSameBytes(now.subarray(same, old.length), old.subarray(same)) &&
    isSameBytes(now.subarray(old.length), wanted.subarray(old.length, now.length))
  );
}

function isSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** A path to restore, with the entry found there. */
export type Restore = Extract<Evaluation, { kind: "restore" }>;

/** The results of the paths that were to be restored. */
export interface RestoredPaths {
  done: readonly PlannedChange[];
  /** Another entry is at the path, or in the way. */
  conflicts: readonly { change: PlannedChange; reason: string }[];
  failures: readonly { change: PlannedChange; reason: string }[];
  /** Restored, but not in every respect; sorted. */
  unlike: readonly UnlikePath[];
}

const OPEN_MODE = 0o700;

/** The project and the source of the contents. */
interface WorkOptions {
  /** The project, absolute and real. */
  root: string;
  /** Holds the contents to restore. */
  store: BlobStore;
  /** The plan that was recorded before. */
  restoring: Restoring;
}

/** Restores single paths and remembers the result of each. */
class RestoreWork {
  private readonly writer: TreeWriter;
  private readonly conflicts = new Map<Restore, string>();
  private readonly failures = new Map<Restore, string>();
  /** Paths that have the target state now. */
  private readonly reached = new Set<Restore>();
  /** The contents of files that were rewritten in place, by inode. */
  private readonly rewritten = new Map<number, string | undefined>();
  /**
   * Files with several hard links that were created again: the path of the first link, by a key that all of them share.
   */
  private readonly firstNames = new Map<string, string>();
  private readonly lostOwners = new Set<string>();

  constructor(private readonly options: WorkOptions) {
    this.writer = new TreeWriter(options.root, options.restoring.temporaryName);
  }

  /**
   * Changes a path while no other diligent process edits a file in its directory: the entry that was checked is the one
   * that is replaced. A failed path stays unchanged.
   */
  async attempt(each: Restore, work: () => void): Promise<void> {
    if (this.conflicts.has(each) || this.failures.has(each)) return;
    try {
      await withDirectoryLock(dirname(toAbsolute(this.options.root, each.change.path)), work);
    } catch (error) {
      if (error instanceof ChangedMeanwhileError) this.conflicts.set(each, "it changed just now");
      else if (error instanceof NotEmptyError)
        this.conflicts.set(each, "the directory contains other entries");
      else if (error instanceof MovedPathError)
        this.conflicts.set(each, "its directory is gone or was replaced by a link");
      else this.failures.set(each, systemErrorText(error));
    }
  }

  remove({ change, present }: Restore): void {
    if (present) this.writer.remove(change.path, present);
  }

  putIn(each: Restore): void {
    const { path, target } = each.change;
    const before = each.present?.kind === target?.kind ? each.present : undefined;
    this.reached.add(each);
    if (target?.kind === "directory" && before === undefined)
      this.noteOwner(path, this.writer.makeDirectory(path, target));
    else if (target?.kind === "link") this.writer.putLink(path, target.target, before);
    else if (target?.kind === "file") this.putFile(path, target, before);
  }

  openDirectories(): void {
    for (const [path, mode] of this.options.restoring.opened)
      setQuietly(() => this.writer.setMode(path, mode | OPEN_MODE));
  }

  /**
   * The innermost first, because a closed directory may not be accessible afterwards. A directory that was not restored
   * gets its former mode back.
   */
  async closeDirectories(outsideIn: readonly Restore[]): Promise<void> {
    const wanted = new Map(outsideIn.map((each) => [each.change.path, each]));
    const opened = new Map(this.options.restoring.opened);
    const paths = [...new Set([...opened.keys(), ...wanted.keys()])].sort(compareByCharacter);
    for (const path of paths.reverse()) {
      const each = wanted.get(path);
      const mode = opened.get(path);
      const target = each?.change.target;
      if (each && target?.kind === "directory" && this.reached.has(each))
        await this.attempt(each, () => this.writer.setMode(path, target.mode));
      else if (mode !== undefined && this.writer.directoryMode(path) === (mode | OPEN_MODE))
        setQuietly(() => this.writer.setMode(path, mode));
    }
  }

  finish(wanted: readonly Restore[]): RestoredPaths {
    const list = (reasons: ReadonlyMap<Restore, string>) =>
      [...reasons].map(([{ change }, reason]) => ({ change, reason }));
    const isDone = (each: Restore) => !this.conflicts.has(each) && !this.failures.has(each);
    const done = wanted.filter(isDone).map(({ change }) => change);
    const unlike = done.flatMap((change) => this.describeUnlike(change));
    return { done, conflicts: list(this.conflicts), failures: list(this.failures), unlike };
  }

  private describeUnlike({ path, target }: PlannedChange): UnlikePath[] {
    const isAlone =
      target?.kind === "file" && (target.links ?? 1) > countNames(toAbsolute(this.options.root, path));
    const isOwnerLost = this.lostOwners.has(path);
    if (!isAlone && !isOwnerLost) return [];
    return [{ path, ...(isOwnerLost && { isOwnerLost: true }), ...(isAlone && { isLinkLost: true }) }];
  }

  private putFile(path: string, target: FileEntry, before: TreeEntry | undefined): void {
    const file = before?.kind === "file" ? before : undefined;
    // The file was rewritten under its other name already.
    if (file && this.rewritten.get(file.inode) === target.hash && target.hash !== undefined) return;
    const isSameFile = file !== undefined && hasSameContent(file, target);
    if (!isSameFile) this.writeFile(path, target, before);
    if (isSameFile || this.options.restoring.inPlace.includes(path)) this.writer.setMode(path, target.mode);
  }

  private writeFile(path: string, target: FileEntry, before: TreeEntry | undefined): void {
    const { hash } = target;
    const whole = target.isWholeFile ? this.options.store.largeFiles.find(target) : undefined;
    if (whole !== undefined) {
      this.writer.putWholeFile(path, whole, before);
      return;
    }
    const content = hash === undefined ? undefined : this.options.store.read(hash);
    if (content === undefined) throw new Error("its recorded content is damaged or missing");
    if (before?.kind === "file" && this.options.restoring.inPlace.includes(path)) {
      this.writer.rewriteFile(path, content, before);
      this.rewritten.set(before.inode, hash);
    } else if (!this.linkToFirstName(path, target, before)) {
      this.noteOwner(path, this.writer.putFile(path, { ...target, content }, before));
    }
  }

  /** True when the file was already restored under another name and this path was linked to it. */
  private linkToFirstName(path: string, target: FileEntry, before: TreeEntry | undefined): boolean {
    if (target.links === undefined) return false;
    const { inode, changedMs, modifiedMs, mode, hash } = target;
    const key = [inode, changedMs, modifiedMs, mode, hash].join(" ");
    const firstName = this.firstNames.get(key);
    if (firstName === undefined) {
      this.firstNames.set(key, path);
      return false;
    }
    try {
      this.writer.linkFile(path, firstName, before);
      return true;
    } catch {
      return false; // The file system has no hard links, or the first one is gone: a separate file is created.
    }
  }

  private noteOwner(path: string, isOwned: boolean): void {
    if (!isOwned) this.lostOwners.add(path);
  }
}

function countNames(absolute: string): number {
  try {
    return findStats(toSystemPath(absolute))?.nlink ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY; // It is no longer accessible.
  }
}

/** Ignores errors for a path that is gone or inaccessible: its restoration reports the error. */
function setQuietly(work: () => void): void {
  try {
    work();
  } catch {
    // Reported by the restoration of the path.
  }
}

/** Compares by character: a directory sorts before its contents. */
function compareByCharacter(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Creates a missing directory and those above it; disposing removes them again if nothing was restored inside. */
export class MadeDirectory implements Disposable {
  /** The outermost directory that was created; undefined when another process was faster. */
  private readonly top: string | undefined;

  /** @param path absolute. @throws errors of the file system. */
  constructor(private readonly path: string) {
    this.top = mkdirSync(path, { recursive: true });
  }

  [Symbol.dispose](): void {
    if (this.top === undefined) return;
    try {
      for (let path = this.path; path.length >= this.top.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // Usually a file was restored, or another process has created one in it.
    }
  }
}
