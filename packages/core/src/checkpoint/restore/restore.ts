import { TimeSlicer } from "../../infrastructure/async.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { hasExtendedAttributes } from "../../infrastructure/fs/write.ts";
import { isSameState, type TreeChange, type TreeEntry, toAbsolute } from "../entries.ts";
import { isOpposite } from "../timeline.ts";
import type { Move, Restoring, Step } from "../types.ts";
import { type EvaluateOptions, type Present, readEntryAt } from "./evaluate-change.ts";
import {
  compareByCharacter,
  type Restore,
  type RestoredPaths,
  RestoreWork,
  setQuietly,
  type WorkOptions,
} from "./restore-work.ts";
import { TreeWriter } from "./tree-writer.ts";

const WRITE_AND_SEARCH = 0o300;
const OPEN_MODE = 0o700;

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
