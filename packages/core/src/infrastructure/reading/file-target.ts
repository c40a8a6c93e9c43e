import { type BigIntStats, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemErrorCode, systemErrorText } from "../system-error.ts";

/** What a path leads to once every symbolic link in it is followed. `stats` is undefined when nothing is there yet. */
export interface FileTarget {
  realPath: string;
  stats: BigIntStats | undefined;
}

/**
 * Follows `path` (absolute). Throws, in words for the model, where a link leads nowhere or in a circle, where a file
 * stands in place of a directory, and where access is denied.
 */
export function locateFile(path: string): FileTarget {
  try {
    const realPath = realpathSync(path);
    return { realPath, stats: lstatSync(realPath, { bigint: true }) };
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT")
      throw new Error(`Cannot access ${path}: ${systemErrorText(error)}.`);
  }
  return { realPath: locateMissing(path), stats: undefined };
}

/** Where a file would come to lie: the links of the directories that exist are followed, the rest is appended. */
function locateMissing(path: string): string {
  const linkTarget = readLink(path);
  if (linkTarget !== undefined) {
    throw new Error(
      `${path} is a symbolic link to ${linkTarget}, which does not exist. Use the path of a real file.`,
    );
  }
  return join(locateFile(dirname(path)).realPath, basename(path));
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // Nothing there, or no link.
  }
}

/** What a thing that is no regular file is, with its article; undefined for a regular file. */
export function specialFileKind(stats: BigIntStats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "not a regular file";
}
