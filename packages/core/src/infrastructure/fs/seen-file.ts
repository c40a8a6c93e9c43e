import { lstatSync } from "node:fs";
import { readEntries } from "./directory-cache.ts";
import { readLinkTarget, toSystemPath } from "./stat.ts";

/** What is at a path; links are not followed. */
export interface SeenFile {
  /** Absolute. */
  path: string;
  kind: "directory" | "file" | "link";
  /** Which it is, under whatever name: device and inode. */
  identity: string;
  /** That of the directory it lies in. */
  parentIdentity: string;
  /** Of a link: as it is written. */
  target?: string;
}

/** Undefined for what is not there, or may not be looked at. */
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
    return undefined; // Missing, or in a directory of somebody else's.
  }
}

/** The names in a directory; undefined for what is none or cannot be listed. */
export function namesIn(path: string): string[] | undefined {
  try {
    return lookAt(path)?.kind === "directory" ? readEntries(path).map(({ name }) => name) : undefined;
  } catch {
    return undefined;
  }
}

/** As `dirname`, which loses the bytes of a name that is not text; empty for what lies right in `/`. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** As `basename`; see `directoryOf`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a path lies below one of these directories; for thousands of them. */
export function isBelowAny(path: string, directories: ReadonlySet<string>): boolean {
  for (let outer = directoryOf(path); outer !== ""; outer = directoryOf(outer))
    if (directories.has(outer)) return true;
  return false;
}
