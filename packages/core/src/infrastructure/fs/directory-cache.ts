import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { now } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { type DirectoryEntry, findListingRight, readDirectory } from "./directory.ts";
import { DirectoryWatch } from "./directory-watch.ts";
import { findStats, fromNameBytes, REPLACEMENT, toSystemPath } from "./stat.ts";

/** A directory, and the purpose for which it is read: one may be read for several purposes. */
export interface CachedPlace<Role extends string = string> {
  /** Absolute. */
  path: string;
  role: Role;
}

/** How directories are read. */
interface DirectoryReader<Place extends CachedPlace, Content> {
  /** The relevant part of a directory's entries. */
  summarize(place: Place, entries: readonly DirectoryEntry[]): Content;
  /** False for a file or link that may be added or removed without changing that part, judged by its name alone. */
  mayCount(name: string, place: Place): boolean;
}

export interface ReadDirectory<Content> {
  /** Device and inode. */
  identity: string;
  content: Content;
}

interface CachedDirectory<Place, Content> extends ReadDirectory<Content> {
  place: Place;
  changedNs: bigint;
  /** False while a change could go unnoticed because the clocks of file systems are coarse. */
  isSettled: boolean;
  /** Undefined if it is not watched: changes are then detected by its times. */
  watch: number | undefined;
  /** False once a relevant name was added or removed. */
  isCurrent: boolean;
  /** When it was last seen. */
  round: number;
}

// The coarsest clock of a file system in use is that of FAT, two seconds.
const SETTLED_AFTER_MS = 3_000;

/**
 * Reads directories repeatedly, each only if a name in it was added or removed. Changes are reported by the kernel
 * where it can (see `DirectoryWatch`), otherwise detected by the time of the last change, which only the system sets.
 * Modification times are not used: every process that may write to a directory can set them.
 */
export class DirectoryCache<Place extends CachedPlace, Content> implements Disposable {
  private watch: DirectoryWatch | undefined;
  private readonly known = new Map<string, CachedDirectory<Place, Content>>();
  private readonly byWatch = new Map<number, Set<CachedDirectory<Place, Content>>>();
  private round = 0;
  private unwatched = 0;
  private hasChanged = true;

  /** @param options.isWatching false to use times only. */
  constructor(
    private readonly reader: DirectoryReader<Place, Content>,
    { isWatching = true } = {},
  ) {
    this.watch = isWatching ? DirectoryWatch.open() : undefined;
  }

  /** Processes all changes until now. @returns true if nothing that was seen since `startOver` has changed. */
  update(): boolean {
    const events = this.watch?.read();
    if (events === undefined) this.hasChanged = true;
    if (events === undefined) for (const directory of this.known.values()) directory.isCurrent = false;
    for (const { watch, name, isDirectory } of events ?? [])
      for (const directory of this.byWatch.get(watch) ?? []) {
        if (name !== undefined && !isDirectory && !this.reader.mayCount(name, directory.place)) continue;
        directory.isCurrent = false;
        this.hasChanged = true;
      }
    return !this.hasChanged && this.unwatched === 0;
  }

  /** Call it before everything is read again; `forgetOthers` follows. */
  startOver(): void {
    this.round += 1;
    this.unwatched = 0;
    this.hasChanged = false;
  }

  /** Forgets all directories that were not read since `startOver`. */
  forgetOthers(): void {
    for (const [key, directory] of this.known) {
      if (directory.round === this.round) continue;
      this.known.delete(key);
      this.unlink(directory);
    }
  }

  /**
   * @param isInPlace true where the directory around it has not changed, so that another cannot have taken its place.
   * @returns `isInPlace` for the directories in it; or its identity alone where it may not be listed or searched; undefined for
   * what is not a directory, is gone, or cannot be reached with this user's rights.
   */
  read(
    place: Place,
    isInPlace: boolean,
  ): { directory: ReadDirectory<Content>; isInPlace: boolean } | { unlistable: string } | undefined {
    const key = `${place.role} ${place.path}`;
    const known = this.known.get(key);
    if (known) known.round = this.round;
    if (known?.isCurrent && known.watch !== undefined && isInPlace) return { directory: known, isInPlace };
    try {
      const stats = lstatSync(toSystemPath(place.path), { bigint: true, throwIfNoEntry: false });
      if (!stats?.isDirectory()) return undefined;
      // Before reading, so that no change is missed.
      const watch = this.watch?.add(place.path, String(stats.dev));
      if (watch === undefined) this.unwatched += 1;
      if (known && isUnchanged(known, stats, watch))
        return { directory: known, isInPlace: watch !== undefined };
      const right = findListingRight(toSystemPath(place.path), stats);
      if (right !== "listable") return right === "closed" ? undefined : { unlistable: toIdentity(stats) };
      const isSettled = now() - Number(stats.ctimeMs) > SETTLED_AFTER_MS;
      const content = this.reader.summarize(place, readEntries(place.path));
      const times = { identity: toIdentity(stats), changedNs: stats.ctimeNs, isSettled };
      const directory = { ...times, place, content, watch, isCurrent: true, round: this.round };
      this.keep(key, directory);
      return { directory, isInPlace: false };
    } catch (error) {
      // The permission was removed just now, or the file system has its own rules.
      if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return findUnlistable(place.path);
      return undefined; // Removed in the meantime. Its parent directory has changed then.
    }
  }

  [Symbol.dispose](): void {
    this.watch?.[Symbol.dispose]();
    this.watch = undefined;
    this.known.clear();
    this.byWatch.clear();
  }

  private keep(key: string, directory: CachedDirectory<Place, Content>): void {
    const before = this.known.get(key);
    this.known.set(key, directory);
    if (directory.watch !== undefined) {
      const same = this.byWatch.get(directory.watch) ?? new Set();
      this.byWatch.set(directory.watch, same.add(directory));
    }
    if (before) this.unlink(before);
  }

  private unlink(directory: CachedDirectory<Place, Content>): void {
    const { watch } = directory;
    const same = watch === undefined ? undefined : this.byWatch.get(watch);
    same?.delete(directory);
    if (watch === undefined || same?.size !== 0) return;
    this.byWatch.delete(watch);
    this.watch?.remove(watch);
  }
}

function isUnchanged(
  known: CachedDirectory<unknown, unknown>,
  stats: BigIntStats,
  watch: number | undefined,
): boolean {
  if (known.identity !== toIdentity(stats)) return false;
  if (watch !== undefined) return known.watch === watch && known.isCurrent;
  return known.isSettled && known.changedNs === stats.ctimeNs;
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Undefined where something above it cannot be read either, which counts itself. */
function findUnlistable(path: string): { unlistable: string } | undefined {
  const stats = lstatSync(toSystemPath(path), { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() ? { unlistable: toIdentity(stats) } : undefined;
}

/** The entries of a directory, also those with names that are not text; see `fromNameBytes`. @throws system errors. */
export function readEntries(path: string): DirectoryEntry[] {
  if (path.isWellFormed()) {
    const entries = readDirectory(path);
    if (!entries.some(({ name }) => name.includes(REPLACEMENT))) return entries;
  }
  return readdirSync(toSystemPath(path), { encoding: "buffer" }).map((bytes) => {
    const name = fromNameBytes(bytes);
    return { name, kind: findKind(`${path}/${name}`) };
  });
}

function findKind(path: string): DirectoryEntry["kind"] {
  const stats = findStats(toSystemPath(path));
  if (stats?.isDirectory()) return "directory";
  if (stats?.isSymbolicLink()) return "link";
  return stats?.isFile() ? "file" : "other";
}
