import { statSync } from "node:fs";
import { dirname } from "node:path";

const CODE_TEXTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "it has nothing to read now",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "something of that name is already there",
  EFBIG: "the file would become larger than is allowed",
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

/** What went wrong, in words that fit behind a colon; the code stays in it for whoever wants to look it up. */
export function systemErrorText(error: unknown): string {
  const code = systemErrorCode(error);
  const text = code === undefined ? undefined : CODE_TEXTS[code];
  if (text !== undefined) return `${text} (${code})`;
  return error instanceof Error ? error.message : String(error);
}

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
