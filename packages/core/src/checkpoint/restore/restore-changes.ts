import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";
import { hasExtendedAttributes } from "../../infrastructure/writing/extended-attributes.ts";
import { Slices } from "../slices.ts";
import type { Restoring } from "../timeline/types.ts";
import {
  compareTexts,
  type Restore,
  type RestoredPaths,
  RestoreWork,
  setQuietly,
  type WorkOptions,
} from "./restore-work.ts";
import { TreeWriter } from "./tree-writer.ts";

const WRITE_AND_SEARCH = 0o300;
const OPEN_MODE = 0o700;

/** What is to be noted down before anything is restored. */
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

/** How paths are restored; it can be stopped between two of them. */
export interface RestoreOptions extends WorkOptions {
  /** Once it is aborted, what was not begun yet is left as it is. */
  signal?: AbortSignal | undefined;
  /** Told now and then how many of how many paths are done. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Restores paths one after the other: takes away from the inside out, then puts in from the outside in. Undefined when it
 * was stopped on the way: then some of it is done, each path whole or not at all.
 */
export async function restoreChanges(
  wanted: readonly Restore[],
  options: RestoreOptions,
): Promise<RestoredPaths | undefined> {
  const work = new RestoreWork(options);
  const inward = [...wanted].sort((left, right) => compareTexts(left.change.path, right.change.path));
  const outward = inward.toReversed().filter((each) => each.present && isOtherKind(each));
  const inside = inward.filter((each) => each.change.target);
  const tasks = [
    ...outward.map((each) => () => work.attempt(each, () => work.takeAway(each))),
    ...inside.map((each) => () => work.attempt(each, () => work.putIn(each))),
  ];
  work.openDirectories();
  let isWhole = false;
  try {
    isWhole = await workThrough(tasks, options);
  } finally {
    work.closeDirectories(inward);
  }
  return isWhole ? work.finish(inward) : undefined;
}

/** False when it was stopped. */
async function workThrough(
  tasks: readonly (() => void)[],
  { signal, onProgress }: Pick<RestoreOptions, "signal" | "onProgress">,
): Promise<boolean> {
  const slices = new Slices();
  for (const [index, task] of tasks.entries()) {
    if (slices.isDue) {
      onProgress?.(index, tasks.length);
      await slices.pause();
    }
    if (signal?.aborted) return false;
    task();
  }
  return true;
}

function isOtherKind({ present, change }: Restore): boolean {
  return present?.kind !== change.target?.kind;
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

/** A new file in its place would lose its other names, its owner or its attributes. */
function isWrittenInPlace(root: string, { change: { path, target }, present }: Restore): boolean {
  if (present?.kind !== "file" || target?.kind !== "file" || !path.isWellFormed()) return false;
  const absolute = `${root}/${path}`;
  const stats = findStats(toSystemPath(absolute));
  if (!stats) return false;
  return stats.nlink > 1 || stats.uid !== process.geteuid?.() || hasExtendedAttributes(absolute);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
