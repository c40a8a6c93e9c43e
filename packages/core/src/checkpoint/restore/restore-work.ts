import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { withDirectoryLock } from "../../infrastructure/fs/directory-lock.ts";
import { MovedPathError } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { type FileEntry, hasSameContent, type TreeEntry, toAbsolute } from "../entries.ts";
import type { BlobStore } from "../store/blobs.ts";
import type { PlannedChange } from "../timeline.ts";
import type { Restoring, UnlikePath } from "../types.ts";
import type { Evaluation } from "./evaluate-change.ts";
import { ChangedMeanwhileError, NotEmptyError, TreeWriter } from "./tree-writer.ts";

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
export interface WorkOptions {
  /** The project, absolute and real. */
  root: string;
  /** Holds the contents to restore. */
  store: BlobStore;
  /** The plan that was recorded before. */
  restoring: Restoring;
}

/** Restores single paths and remembers the result of each. */
export class RestoreWork {
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
export function setQuietly(work: () => void): void {
  try {
    work();
  } catch {
    // Reported by the restoration of the path.
  }
}

/** Compares by character: a directory sorts before its contents. */
export function compareByCharacter(left: string, right: string): number {
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
