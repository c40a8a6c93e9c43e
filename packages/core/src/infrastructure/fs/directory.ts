import {
  accessSync,
  type BigIntStats,
  chmodSync,
  constants,
  lstatSync,
  readdirSync,
  readlinkSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import { HeldDirectory } from "./real-path.ts";
import { fromNameBytes, REPLACEMENT, toSystemPath } from "./stat.ts";

/** Links are not followed; `other` is also what the file system does not tell. */
export interface DirectoryEntry {
  name: string;
  kind: "directory" | "file" | "link" | "other";
}

/** What is in a directory, unsorted; links are not followed. Throws the file system's error. */
export function readDirectory(directory: string): DirectoryEntry[] {
  return readdirSync(directory, { withFileTypes: true }).map((entry) => {
    if (entry.isDirectory()) return { name: entry.name, kind: "directory" };
    if (entry.isSymbolicLink()) return { name: entry.name, kind: "link" };
    return { name: entry.name, kind: entry.isFile() ? "file" : "other" };
  });
}

/** The size of a file in bytes, or undefined when it is gone or may not be looked at. */
export function fileSize(path: string): number | undefined {
  return entryStats(path)?.size;
}

/** Milliseconds since the epoch, 0 for what is gone. */
export function modificationTime(path: string): number {
  return entryStats(path)?.mtimeMs ?? 0;
}

/** Where a symbolic link points, as it is written in it. */
export function linkTarget(directory: string, name: string): string | undefined {
  try {
    return readlinkSync(join(directory, name));
  } catch {
    return undefined; // Gone since the directory was read.
  }
}

/** True for a symbolic link, and for what may not be looked at: it could be one. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch (error) {
    return systemErrorCode(error) !== "ENOTDIR";
  }
}

function entryStats(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // It may not be looked at; that it is there is still worth showing.
  }
}

const OWNER_MAY_LOOK = 0o500n;
const OWNER_MAY_ALL = 0o700;
const MODE_BITS = 0o7777n;

/**
 * Whether this user may list a directory and reach what lies in it: `hidden` for one in which names that are known can be
 * reached but not found, or which is this user's own to open; `closed` for one in which nothing can be reached.
 *
 * @param stats of the path itself. For an ordinary directory they are enough to tell.
 */
export function findListingRight(
  path: string | Buffer,
  stats: BigIntStats,
): "listable" | "hidden" | "closed" {
  const isMine = isOwn(stats);
  if (isMine && (stats.mode & OWNER_MAY_LOOK) === OWNER_MAY_LOOK) return "listable";
  // An owner without the right has none by other ways, unless it is an administrator.
  if (isMine && stats.uid !== 0n) return "hidden";
  if (isAllowed(path, constants.R_OK | constants.X_OK)) return "listable";
  return isMine || isAllowed(path, constants.X_OK) ? "hidden" : "closed";
}

/** It belongs to somebody else, who alone can open it. */
export class ForeignDirectoryError extends Error {
  override name = "ForeignDirectoryError";
}

/**
 * Gives the owner of a directory the rights to list, search and write it, if this user is that owner.
 * @param identity which directory it has to be: device and inode.
 * @returns its mode now, in octal digits.
 * @throws ForeignDirectoryError, MovedPathError, Error where it is not that one any more, and system errors.
 */
export function makeListable(realPath: string, identity: string): string {
  // Whatever else runs may put a link, or another directory, in its place.
  using directory = HeldDirectory.open(realPath);
  const place = directory.pathForChildren;
  const stats = statSync(place, { bigint: true });
  if (`${stats.dev}:${stats.ino}` !== identity) throw new Error("another directory is in its place");
  if (!isOwn(stats)) throw new ForeignDirectoryError("it belongs to another user");
  const wanted = Number(stats.mode & MODE_BITS) | OWNER_MAY_ALL;
  chmodSync(place, wanted);
  return wanted.toString(8).padStart(4, "0");
}

/** Whether it belongs to the user with whose rights this process works. */
export function isOwn({ uid }: Pick<BigIntStats, "uid">): boolean {
  const user = process.geteuid?.();
  return user !== undefined && uid === BigInt(user);
}

function isAllowed(path: string | Buffer, right: number): boolean {
  try {
    accessSync(path, right);
    return true;
  } catch {
    return false;
  }
}

/** The names in a directory, unsorted, also those that are no text; see `fromNameBytes`. @throws system errors. */
export function readSystemNames(path: string): string[] {
  const place = toSystemPath(path);
  const names = readdirSync(place);
  // Bytes are several times as dear, and seldom needed.
  if (!names.some((name) => name.includes(REPLACEMENT))) return names;
  return readdirSync(place, { encoding: "buffer" }).map(fromNameBytes);
}
