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

/** Links are not followed; `other` includes entries whose kind the file system does not report. */
export interface DirectoryEntry {
  name: string;
  kind: "directory" | "file" | "link" | "other";
}

/** The entries of a directory, unsorted; links are not followed. @throws the file system's error. */
export function readDirectory(directory: string): DirectoryEntry[] {
  return readdirSync(directory, { withFileTypes: true }).map((entry) => {
    if (entry.isDirectory()) return { name: entry.name, kind: "directory" };
    if (entry.isSymbolicLink()) return { name: entry.name, kind: "link" };
    return { name: entry.name, kind: entry.isFile() ? "file" : "other" };
  });
}

/** The size of a file in bytes; undefined when it is missing or not accessible. */
export function fileSize(path: string): number | undefined {
  return entryStats(path)?.size;
}

/** Milliseconds since the epoch, 0 for a missing file. */
export function modificationTime(path: string): number {
  return entryStats(path)?.mtimeMs ?? 0;
}

/** The text of a symbolic link. */
export function linkTarget(directory: string, name: string): string | undefined {
  try {
    return readlinkSync(join(directory, name));
  } catch {
    return undefined; // Removed since the directory was read.
  }
}

/** True for a symbolic link, and for an inaccessible path, which could be one. */
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
    return undefined; // It is not accessible, but its existence is still worth showing.
  }
}

const OWNER_MAY_LIST = 0o500n;
const OWNER_MAY_ALL = 0o700;
const MODE_BITS = 0o7777n;

/**
 * Whether this user may list a directory and access its entries. `hidden`: only entries with known names are
 * accessible, or the user owns the directory and could open it. `closed`: no entry is accessible.
 *
 * @param stats of the path itself. For an ordinary directory they are sufficient.
 */
export function findListingRight(
  path: string | Buffer,
  stats: BigIntStats,
): "listable" | "hidden" | "closed" {
  const isOwner = isOwn(stats);
  if (isOwner && (stats.mode & OWNER_MAY_LIST) === OWNER_MAY_LIST) return "listable";
  // An owner without the permission cannot have it as a member of the group, unless the user is an administrator.
  if (isOwner && stats.uid !== 0n) return "hidden";
  if (isAllowed(path, constants.R_OK | constants.X_OK)) return "listable";
  return isOwner || isAllowed(path, constants.X_OK) ? "hidden" : "closed";
}

/** It belongs to another user, who alone can open it. */
export class ForeignDirectoryError extends Error {
  override name = "ForeignDirectoryError";
}

/**
 * Gives the owner of a directory the permissions to list, search and write it, if this user is the owner.
 * @param identity the expected directory: device and inode.
 * @returns its new mode, in octal digits.
 * @throws ForeignDirectoryError, MovedPathError, Error if it is another directory, and system errors.
 */
export function makeListable(realPath: string, identity: string): string {
  // Another process may put a link or another directory in its place.
  using directory = HeldDirectory.open(realPath);
  const location = directory.pathForChildren;
  const stats = statSync(location, { bigint: true });
  if (`${stats.dev}:${stats.ino}` !== identity) throw new Error("it was replaced by another directory");
  if (!isOwn(stats)) throw new ForeignDirectoryError("it belongs to another user");
  const wanted = Number(stats.mode & MODE_BITS) | OWNER_MAY_ALL;
  chmodSync(location, wanted);
  return wanted.toString(8).padStart(4, "0");
}

/** True when the file belongs to the user of this process. */
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

/**
 * The names in a directory, unsorted, including names that are not valid Unicode; see `fromNameBytes`. @throws system
 * errors.
 */
export function readSystemNames(path: string): string[] {
  const location = toSystemPath(path);
  const names = readdirSync(location);
  // Reading bytes takes several times as long and is seldom needed.
  if (!names.some((name) => name.includes(REPLACEMENT))) return names;
  return readdirSync(location, { encoding: "buffer" }).map(fromNameBytes);
}

/** The same; empty if the directory is missing or not readable. */
export function listSystemNames(path: string): string[] {
  try {
    return readSystemNames(path);
  } catch {
    return [];
  }
}
