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

/** A path that is to be restored, with what was seen there. */
export type Restore = Extract<Evaluation, { kind: "restore" }>;

/** What has become of the paths that were to be restored. */
export interface RestoredPaths {
  done: readonly PlannedChange[];
  /** Something else stands there, or in the way. */
  conflicts: readonly { change: PlannedChange; reason: string }[];
  failures: readonly { change: PlannedChange; reason: string }[];
  /** Done, but not in every way as it was; sorted. */
  unlike: readonly UnlikePath[];
}

const OPEN_MODE = 0o700;

/** Where paths are restored, and from what. */
export interface WorkOptions {
  /** The project, absolute and real. */
  root: string;
  /** Holds the contents that come back. */
  store: BlobStore;
  /** What was noted down before. */
  restoring: Restoring;
}

/** Restores single paths, and remembers what came of each. */
export class RestoreWork {
  private readonly writer: TreeWriter;
  private readonly conflicts = new Map<Restore, string>();
  private readonly failures = new Map<Restore, string>();
  /** Put in, or seen to be so already. */
  private readonly reached = new Set<Restore>();
  /** What files that were written in place hold now, by their inodes. */
  private readonly rewritten = new Map<number, string | undefined>();
  /** Files that were made anew and had more than one name: the path of the first, by what all of them have in common. */
  private readonly twins = new Map<string, string>();
  private readonly strangers = new Set<string>();

  constructor(private readonly options: WorkOptions) {
    this.writer = new TreeWriter(options.root, options.restoring.temporaryName);
  }

  /**
   * Changes a path while no other diligent edits a file beside it: what it was checked to be is what is replaced. What
   * fails stays as it is.
   */
  async attempt(each: Restore, work: () => void): Promise<void> {
    if (this.conflicts.has(each) || this.failures.has(each)) return;
    try {
      await withDirectoryLock(dirname(toAbsolute(this.options.root, each.change.path)), work);
    } catch (error) {
      if (error instanceof ChangedMeanwhileError) this.conflicts.set(each, "it changed just now");
      else if (error instanceof NotEmptyError) this.conflicts.set(each, "there is something else in it");
      else if (error instanceof MovedPathError)
        this.conflicts.set(each, "its directory is gone, or a link stands in its place");
      else this.failures.set(each, systemErrorText(error));
    }
  }

  takeAway({ change, present }: Restore): void {
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

  /** The innermost first: afterwards it may not be entered any more. What was not reached gets back the mode it had. */
  async closeDirectories(inward: readonly Restore[]): Promise<void> {
    const wanted = new Map(inward.map((each) => [each.change.path, each]));
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
    const isStrange = this.strangers.has(path);
    if (!isAlone && !isStrange) return [];
    return [{ path, ...(isStrange && { isOwnerLost: true }), ...(isAlone && { isLinkLost: true }) }];
  }

  private putFile(path: string, target: FileEntry, before: TreeEntry | undefined): void {
    const file = before?.kind === "file" ? before : undefined;
    // Its other name has been seen to already.
    if (file && this.rewritten.get(file.inode) === target.hash && target.hash !== undefined) return;
    const isSameFile = file !== undefined && hasSameContent(file, target);
    if (!isSameFile) this.writeFile(path, target, before);
    if (isSameFile || this.options.restoring.inPlace.includes(path)) this.writer.setMode(path, target.mode);
  }

  private writeFile(path: string, target: FileEntry, before: TreeEntry | undefined): void {
    const { hash } = target;
    const content = hash === undefined ? undefined : this.options.store.read(hash);
    if (content === undefined) throw new Error("what was kept of it is damaged or gone");
    if (before?.kind === "file" && this.options.restoring.inPlace.includes(path)) {
      this.writer.rewriteFile(path, content, before);
      this.rewritten.set(before.inode, hash);
    } else if (!this.linkTwin(path, target, before)) {
      this.noteOwner(path, this.writer.putFile(path, { ...target, content }, before));
    }
  }

  /** True when the file was restored under another name already, and this has become one more name of it. */
  private linkTwin(path: string, target: FileEntry, before: TreeEntry | undefined): boolean {
    if (target.links === undefined) return false;
    const { inode, changedMs, modifiedMs, mode, hash } = target;
    const key = [inode, changedMs, modifiedMs, mode, hash].join(" ");
    const twin = this.twins.get(key);
    if (twin === undefined) {
      this.twins.set(key, path);
      return false;
    }
    try {
      this.writer.linkFile(path, twin, before);
      return true;
    } catch {
      return false; // The file system knows no such names, or the first one is gone: then it becomes a file of its own.
    }
  }

  private noteOwner(path: string, isOwned: boolean): void {
    if (!isOwned) this.strangers.add(path);
  }
}

function countNames(absolute: string): number {
  try {
    return findStats(toSystemPath(absolute))?.nlink ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY; // It may not be looked at any more.
  }
}

/** For what is gone or somebody else's: what was to be done in it has said so. */
export function setQuietly(work: () => void): void {
  try {
    work();
  } catch {
    // As above.
  }
}

/** By character: a directory stands before everything in it. */
export function compareByCharacter(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** A directory that was made for what is to come back; where nothing came, it goes away again, with those made above it. */
export class MadeDirectory implements Disposable {
  /** The outermost one that was made; undefined where somebody else was faster. */
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
      // As a rule something has come back; or there is something of somebody else's in it.
    }
  }
}
