import { type BigIntStats, lstatSync } from "node:fs";
import { now } from "../../infrastructure/clock.ts";
import { foldName } from "../../infrastructure/fold-name.ts";
import { findPlacesBehind, isControlEntry } from "../../infrastructure/places/control-files.ts";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findListingRight } from "../../infrastructure/reading/listing-rights.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { UnlistableDirectory } from "./control-look.ts";
import { isRepositoryBySigns, isRepositorySign } from "./repository-signs.ts";
import { readSystemEntries } from "./system-entries.ts";

/** A directory that was read, and what tells whether it has to be read again. */
export interface KnownDirectory {
  device: bigint;
  inode: bigint;
  changedNs: bigint;
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  directories: readonly string[];
  /** Directories that are not looked through. */
  unwatched: readonly string[];
  controls: readonly string[];
  /** Entries that go into making a repository without a tree. */
  signs: readonly string[];
  /** True for one, which git takes for a repository wherever it lies. */
  isRepository: boolean;
}

export interface DirectoryPlace {
  /** Absolute. */
  path: string;
  /** Of the places where commands may write, the one it lies in. */
  root: string;
}

/** The coarsest clock of a file system in use is that of FAT, two seconds. */
export const SETTLED_AFTER_MS = 3_000;

/**
 * Installed packages bring such files by the hundred, for themselves; nobody opens these directories to work in them.
 * In lower case.
 */
const UNWATCHED = "node_modules";

/**
 * What is in a directory; what was known of it where that has not changed. Undefined for what is no directory, is gone, or
 * can be reached by nobody with this user's rights.
 */
export function readKnownDirectory(
  place: DirectoryPlace,
  known: KnownDirectory | undefined,
): KnownDirectory | { unlistable: UnlistableDirectory } | undefined {
  try {
    const stats = lookAtDirectory(place.path);
    if (stats === undefined) return undefined;
    if (known?.isSettled && isUnchanged(known, stats)) return known;
    const unlistable = findUnlistable(place.path, stats);
    if (unlistable !== undefined) return unlistable === "closed" ? undefined : { unlistable };
    return read(place, stats);
  } catch {
    return undefined; // Gone meanwhile. What is to be read later has changed then.
  }
}

/** For a directory of which only that matters. Undefined where it can be looked into, or is none. */
export function lookForUnlistable(path: string): UnlistableDirectory | undefined {
  try {
    const stats = lookAtDirectory(path);
    const unlistable = stats && findUnlistable(path, stats);
    return unlistable === "closed" ? undefined : unlistable;
  } catch {
    return undefined; // Below one that may not be looked into, which counts itself.
  }
}

function lookAtDirectory(path: string): BigIntStats | undefined {
  const stats = lstatSync(toSystemPath(path), { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() ? stats : undefined;
}

function isUnchanged(known: KnownDirectory, { dev, ino, ctimeNs }: BigIntStats): boolean {
  return known.inode === ino && known.device === dev && known.changedNs === ctimeNs;
}

function findUnlistable(path: string, stats: BigIntStats): UnlistableDirectory | "closed" | undefined {
  const right = findListingRight(toSystemPath(path), stats);
  if (right === "listable") return undefined;
  return right === "closed" ? right : toUnlistable(path, stats);
}

function toUnlistable(path: string, { dev, ino }: BigIntStats): UnlistableDirectory {
  return { path, identity: `${dev}:${ino}` };
}

function read(
  place: DirectoryPlace,
  stats: BigIntStats,
): KnownDirectory | { unlistable: UnlistableDirectory } {
  const isSettled = now() - Number(stats.ctimeMs) > SETTLED_AFTER_MS;
  try {
    const entries = readEntries(place);
    return { device: stats.dev, inode: stats.ino, changedNs: stats.ctimeNs, isSettled, ...entries };
  } catch (error) {
    // It lost the right in this moment, or its file system has rules of its own.
    if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? ""))
      return { unlistable: toUnlistable(place.path, stats) };
    throw error;
  }
}

function readEntries({
  path,
  root,
}: DirectoryPlace): Pick<
  KnownDirectory,
  "directories" | "unwatched" | "controls" | "signs" | "isRepository"
> {
  const directories: string[] = [];
  const unwatched: string[] = [];
  const controls: string[] = [];
  const signs: string[] = [];
  for (const entry of readSystemEntries(path)) {
    const { name, kind } = entry;
    if (isRepositorySign(entry)) signs.push(name);
    const isControlLink = () => kind === "link" && findPlacesBehind(`${path}/${name}`, root).length > 0;
    if (isControlEntry(path, name, root) || isControlLink()) controls.push(name);
    else if (kind === "directory") (foldName(name) === UNWATCHED ? unwatched : directories).push(name);
  }
  return { directories, unwatched, controls, signs, isRepository: isRepositoryBySigns(signs) };
}
