import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";

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
