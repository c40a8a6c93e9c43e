import { statSync } from "node:fs";
import { dirname } from "node:path";

const CODE_TEXTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "there is nothing to read now",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it already exists",
  EFBIG: "the file would exceed the maximum size",
  EIO: "the disk reported an input/output error",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "it does not exist",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a part of its path is a file, not a directory",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};

/** The code of an error from the operating system, such as `ENOENT`, or undefined for any other error. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The reason of an error, as a clause that fits after a colon; it contains the error code for reference. */
export function systemErrorText(error: unknown): string {
  const code = systemErrorCode(error);
  const text = code === undefined ? undefined : CODE_TEXTS[code];
  if (text !== undefined) return `${text} (${code})`;
  return error instanceof Error ? error.message : String(error);
}

/** Failures of the file system rather than of the file. */
const FILE_SYSTEM_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS"]);

/**
 * Converts the error into one whose message contains the file and, for a failure of the file system, its mount point.
 */
export function describeWriteError(path: string, error: unknown): Error {
  const code = systemErrorCode(error);
  const mountPoint = code !== undefined && FILE_SYSTEM_CODES.has(code) ? findMountPoint(path) : undefined;
  const where = mountPoint === undefined ? "" : `, on the file system at ${mountPoint}`;
  const described = new Error(`${path}: ${systemErrorText(error)}${where}`, { cause: error });
  return code === undefined ? described : Object.assign(described, { code });
}

/** The topmost directory on the same file system; undefined when unknown. */
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
    // The message does not need it.
    return undefined;
  }
}
