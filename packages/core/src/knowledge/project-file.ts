import { lstatSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isSecretFile } from "../infrastructure/places/secret-files.ts";
import { findRealPath, isInside, splitPath } from "../infrastructure/reading/real-path.ts";
import { readWholeFile } from "../infrastructure/reading/regular-file.ts";

/** Larger files are no source text that knowledge speaks of, and would take long to hash. */
export const MAX_HASHED_BYTES = 1024 * 1024;

/** What git and diligent itself keep there changes all the time. */
const OWN_DIRECTORIES: ReadonlySet<string> = new Set([".git", ".diligent"]);

/** A regular file of the project that may be looked at. */
export interface ProjectFile {
  realPath: string;
  stats: Stats;
}

/**
 * What a path from the project root leads to: the file, `missing`, or `off_limits` for what leads out of the project,
 * holds keys by its name, is git's or diligent's own, or is no regular file. `root` is real.
 */
export function locateProjectFile(path: string, root: string): ProjectFile | "missing" | "off_limits" {
  if (isAbsolute(path) || path.includes("\0")) return "off_limits";
  const realPath = findRealPath(join(root, path), root);
  if (realPath === undefined || !isInside(realPath, root)) return "off_limits";
  const parts = splitPath(realPath.slice(root.length));
  if (OWN_DIRECTORIES.has(parts[0] ?? "") || isSecretFile(realPath) || isSecretFile(path))
    return "off_limits";
  const stats = statOrUndefined(realPath);
  if (stats === undefined) return "missing";
  return stats.isFile() ? { realPath, stats } : "off_limits";
}

/** SHA-256 of its content, hexadecimal; undefined when it is larger than 1 MB or cannot be read. */
export function hashProjectFile({ realPath, stats }: ProjectFile): string | undefined {
  if (stats.size > MAX_HASHED_BYTES) return undefined;
  try {
    return Bun.SHA256.hash(readWholeFile(realPath), "hex");
  } catch {
    // Gone since, or not ours to read: then nothing can be said about it.
    return undefined;
  }
}

function statOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A file stands in place of a directory of the path: it is not there.
  }
}
