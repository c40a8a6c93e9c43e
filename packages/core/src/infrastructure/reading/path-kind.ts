import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { systemErrorCode } from "../system-error.ts";

/** `special` is a pipe, a socket or a device: reading one may wait for ever. `unknown` may not be looked at. */
export type PathKind = "file" | "directory" | "link" | "special" | "missing" | "unknown";

/** What is at a path; a link at its end is not followed. */
export function pathKind(path: string): PathKind {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : kindOf(stats);
  } catch (error) {
    return systemErrorCode(error) === "ENOTDIR" ? "missing" : "unknown";
  }
}

function kindOf(stats: Stats): PathKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "special";
}

/** True for a directory, not a link to one, that this user can make the working directory. */
export function isEnterableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return lstatSync(path).isDirectory();
  } catch {
    return false; // Gone, or not for this user.
  }
}
