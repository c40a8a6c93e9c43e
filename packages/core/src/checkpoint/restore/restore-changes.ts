import { lstatSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { MovedPathError } from "../../infrastructure/reading/opened-path.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { hasExtendedAttributes } from "../../infrastructure/writing/extended-attributes.ts";
import { Slices } from "../slices.ts";
import type { BlobStore } from "../store/blob-store.ts";
import type { PlannedChange } from "../timeline/roll-back.ts";
import type { Restoring } from "../timeline/types.ts";
import { type FileEntry, isSameContent, type TreeEntry } from "../tree-entry.ts";
import type { Judgement } from "./judge-change.ts";
import { ChangedMeanwhileError, NotEmptyError, TreeWriter } from "./tree-writer.ts";

type Restore = Extract<Judgement, { kind: "restore" }>;

/** What has become of the paths that were to be restored. */
export interface RestoredPaths {
  done: readonly PlannedChange[];
  /** Something else stands there, or in the way. */
  conflicts: readonly { change: PlannedChange; reason: string }[];
  failures: readonly { change: PlannedChange; reason: string }[];
}

const WRITE_AND_SEARCH = 0o300;
const OPEN_MODE = 0o700;

/** What is to be noted down before anything is restored. */
export function planRestoring(
  root: string,
  wanted: readonly Restore[],
  names: Pick<Restoring, "id" | "to" | "at" | "move" | "isCutOff" | "temporaryName">,
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

export interface RestoreOptions {
  root: string;
  store: BlobStore;
  restoring: Restoring;
  /** Told now and then how many of how many paths are done. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Restores paths one after the other: takes away from the inside out, then puts in from the outside in. */
export async function restoreChanges(
  wanted: readonly Restore[],
  { root, store, restoring, onProgress }: RestoreOptions,
): Promise<RestoredPaths> {
  const work = new Work(new TreeWriter(root, restoring.temporaryName), store, restoring);
  const slices = new Slices();
  const inward = [...wanted].sort((left, right) => compareTexts(left.change.path, right.change.path));
  work.openDirectories();
  try {
    for (const each of inward.toReversed()) {
      if (slices.isDue) await slices.pause();
      if (each.present && each.present.kind !== each.change.target?.kind)
        work.attempt(each, () => work.takeAway(each));
    }
    for (const [index, each] of inward.entries()) {
      if (slices.isDue) {
        onProgress?.(index, inward.length);
        await slices.pause();
      }
      if (each.change.target) work.attempt(each, () => work.putIn(each));
    }
  } finally {
    work.closeDirectories(inward);
  }
  return work.finish(inward);
}

/** Takes away what a restoration that was cut off has left beside the files. */
export function removeTemporaries(root: string, { temporaryName, directories }: Restoring): void {
  const writer = new TreeWriter(root, temporaryName);
  for (const directory of directories) writer.removeTemporary(directory, temporaryName);
}

/** Closes the directories that a restoration which was cut off had opened; those that somebody has set anew are let be. */
export function closeOpened(root: string, { temporaryName, opened }: Restoring): void {
  const writer = new TreeWriter(root, temporaryName);
  for (const [path, mode] of opened.toReversed())
    if (writer.directoryMode(path) === (mode | OPEN_MODE)) setQuietly(() => writer.setMode(path, mode));
}

class Work {
  private readonly conflicts = new Map<Restore, string>();
  private readonly failures = new Map<Restore, string>();
  /** What files that were written in place hold now, by their inodes. */
  private readonly rewritten = new Map<number, string | undefined>();

  constructor(
    private readonly writer: TreeWriter,
    private readonly store: BlobStore,
    private readonly restoring: Restoring,
  ) {}

  /** What fails stays as it is, and the others go on. */
  attempt(each: Restore, work: () => void): void {
    if (this.conflicts.has(each) || this.failures.has(each)) return;
    try {
      work();
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

  putIn({ change: { path, target }, present }: Restore): void {
    const before = present?.kind === target?.kind ? present : undefined;
    if (target?.kind === "directory" && before === undefined) this.writer.makeDirectory(path);
    else if (target?.kind === "link") this.writer.putLink(path, target.target, before);
    else if (target?.kind === "file") this.putFile(path, target, before);
  }

  openDirectories(): void {
    for (const [path, mode] of this.restoring.opened)
      setQuietly(() => this.writer.setMode(path, mode | OPEN_MODE));
  }

  /** The innermost first: afterwards it may not be entered any more. */
  closeDirectories(inward: readonly Restore[]): void {
    const wanted = new Map(inward.map((each) => [each.change.path, each]));
    const opened = new Map(this.restoring.opened);
    const paths = [...new Set([...opened.keys(), ...wanted.keys()])].sort(compareTexts);
    for (const path of paths.reverse()) {
      const each = wanted.get(path);
      const mode = opened.get(path);
      const target = each?.change.target;
      if (each && target?.kind === "directory")
        this.attempt(each, () => this.writer.setMode(path, target.mode));
      else if (!each && mode !== undefined) setQuietly(() => this.writer.setMode(path, mode));
    }
  }

  finish(wanted: readonly Restore[]): RestoredPaths {
    const list = (reasons: ReadonlyMap<Restore, string>) =>
      [...reasons].map(([{ change }, reason]) => ({ change, reason }));
    const isDone = (each: Restore) => !this.conflicts.has(each) && !this.failures.has(each);
    const done = wanted.filter(isDone).map(({ change }) => change);
    return { done, conflicts: list(this.conflicts), failures: list(this.failures) };
  }

  private putFile(path: string, target: FileEntry, before: TreeEntry | undefined): void {
    const file = before?.kind === "file" ? before : undefined;
    // Its other name has been seen to already.
    if (file && this.rewritten.get(file.inode) === target.hash && target.hash !== undefined) return;
    const isSameFile = file !== undefined && isSameContent(file, target);
    if (!isSameFile) this.writeFile(path, target, before);
    if (isSameFile || this.restoring.inPlace.includes(path)) this.writer.setMode(path, target.mode);
  }

  private writeFile(path: string, { hash, mode }: FileEntry, before: TreeEntry | undefined): void {
    const content = hash === undefined ? undefined : this.store.read(hash);
    if (content === undefined) throw new Error("what was kept of it is damaged or gone");
    if (before?.kind !== "file" || !this.restoring.inPlace.includes(path)) {
      this.writer.putFile(path, { content, mode }, before);
    } else {
      this.writer.rewriteFile(path, content, before);
      this.rewritten.set(before.inode, hash);
    }
  }
}

/** A new file in its place would lose its other names, its owner or its attributes. */
function isWrittenInPlace(root: string, { change: { path, target }, present }: Restore): boolean {
  if (present?.kind !== "file" || target?.kind !== "file" || !path.isWellFormed()) return false;
  const absolute = `${root}/${path}`;
  const stats = lstatSync(toSystemPath(absolute), { throwIfNoEntry: false });
  if (!stats) return false;
  return stats.nlink > 1 || stats.uid !== process.geteuid?.() || hasExtendedAttributes(absolute);
}

function setQuietly(work: () => void): void {
  try {
    work();
  } catch {
    // It is gone or somebody else's: what was to be done in it has said so.
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** By character: a directory stands before everything in it. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
