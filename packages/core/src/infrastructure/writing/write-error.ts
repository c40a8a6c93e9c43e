import { statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorCode, systemErrorText } from "../system-error.ts";

/** Failures of the file system rather than of the file. */
const FILE_SYSTEM_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS"]);

/** The error as one whose message names the file and, where that is what failed, where its file system is mounted. */
export function describeWriteError(path: string, error: unknown): Error {
  const code = systemErrorCode(error);
  const place = code !== undefined && FILE_SYSTEM_CODES.has(code) ? findMountPoint(path) : undefined;
  const where = place === undefined ? "" : `, on the file system at ${place}`;
  const described = new Error(`${path}: ${systemErrorText(error)}${where}`, { cause: error });
  return code === undefined ? described : Object.assign(described, { code });
}

/** The topmost directory that is on the same file system; undefined when it cannot be told. */
function findMountPoint(path: string): string | undefined {
  try {
    let directory = dirname(path);
    const { dev } = statSync(directory);
    for (let parent = dirname(directory); parent !== directory; parent = dirname(directory)) {
      if (statSync(parent).dev !== dev) return directory;
      directory = parent;
    }
    return directory;
  } catch {
    // The message does without it.
    return undefined;
  }
}
