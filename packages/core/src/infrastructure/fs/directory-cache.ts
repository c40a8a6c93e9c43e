import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { now } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { type DirectoryEntry, findListingRight, readDirectory } from "./directory.ts";
import { DirectoryWatch } from "./directory-watch.ts";
import { findStats, fromNameBytes, REPLACEMENT, toSystemPath } from "./stat.ts";

/** A directory, and as what it is read: one may be read as several things. */
export interface CachedPlace<Role extends string = string> {
  /** Absolute. */
  path: string;
  role: Role;
}

/** What directories are read for. */
interface DirectoryReader<Place extends CachedPlace, Content> {
  /** What counts of a directory's entries. */
  summarize(place: Place, entries: readonly DirectoryEntry[]): Content;
  /** False for a file or link that may come or go without changing that; it is told by its name alone. */
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
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  /** Undefined where it is not watched: then its times tell. */
  watch: number | undefined;
  /** False once a name that may count has come or gone. */
  isCurrent: boolean;
  /** When it was last seen. */
  round: number;
}

// The coarsest clock of a file system in use is that of FAT, two seconds.
const SETTLED_AFTER_MS = 3_000;

/**
 * Reads directories again and again, each only where a name in it has come or gone. The kernel tells where it can (see
 * `DirectoryWatch`), else the time of the last change, which only the system sets. Times of modification are not used:
 * every process that may write to a directory can set them.
 */
export class DirectoryCache<Place extends CachedPlace, Content> implements Disposable {
  private watch: DirectoryWatch | undefined;
  private readonly known = new Map<string, CachedDirectory<Place, Content>>();
  private readonly byWatch = new Map<number, Set<CachedDirectory<Place, Content>>>();
  private round = 0;
  private unwatched = 0;
  private hasChanged = true;

  /** @param options.isWatching false where only times are to tell. */
  constructor(
    private readonly reader: DirectoryReader<Place, Content>,
    { isWatching = true } = {},
  ) {
    this.watch = isWatching ? DirectoryWatch.open() : undefined;
  }

  /** Takes notice of all changes until now. @returns true where nothing that was seen since `startOver` has changed. */
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

  /** To be called before everything is read again; `forgetOthers` follows. */
  startOver(): void {
    this.round += 1;
    this.unwatched = 0;
    this.hasChanged = false;
  }

  /** Drops what was not read since `startOver`. */
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
      // Before it is read, so that nothing is missed.
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
      // It lost the right in this moment, or its file system has rules of its own.
      if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return findUnlistable(place.path);
      return undefined; // Gone by now. What is to be read later has changed then.
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
