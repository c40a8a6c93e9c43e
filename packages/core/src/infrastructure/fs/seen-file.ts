import { lstatSync } from "node:fs";
import { readEntries } from "./directory-cache.ts";
import { readLinkTarget, toSystemPath } from "./stat.ts";

/** The file at a path; links are not followed. */
export interface SeenFile {
  /** Absolute. */
  path: string;
  kind: "directory" | "file" | "link";
  /** The identity of the file under any name: device and inode. */
  identity: string;
  /** The identity of its directory. */
  parentIdentity: string;
  /** For a link: its target as written. */
  target?: string;
}

/** Undefined if it does not exist or is not accessible. */
export function lookAt(path: string): SeenFile | undefined {
  try {
    const [stats, parent] = [path, directoryOf(path) || "/"].map((one) =>
      lstatSync(toSystemPath(one), { bigint: true }),
    );
    if (!stats || !parent) return undefined;
    const seen = {
      path,
      identity: `${stats.dev}:${stats.ino}`,
      parentIdentity: `${parent.dev}:${parent.ino}`,
    };
    if (stats.isSymbolicLink()) return { ...seen, kind: "link", target: readLinkTarget(path) };
    return { ...seen, kind: stats.isDirectory() ? "directory" : "file" };
  } catch {
    return undefined; // Missing, or in another user's directory.
  }
}

/** The names in a directory; undefined if it is not a directory or cannot be listed. */
export function namesIn(path: string): string[] | undefined {
  try {
    return lookAt(path)?.kind === "directory" ? readEntries(path).map(({ name }) => name) : undefined;
  } catch {
    return undefined;
  }
}

/** Like `dirname`, but keeps the bytes of a name that is not valid text; empty for entries of `/`. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Like `basename`; see `directoryOf`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a path lies below one of these directories; for thousands of them. */
export function isBelowAny(path: string, directories: ReadonlySet<string>): boolean {
  for (let outer = directoryOf(path); outer !== ""; outer = directoryOf(outer))
    if (directories.has(outer)) return true;
  return false;
}
