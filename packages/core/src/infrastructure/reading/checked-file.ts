import { lstatSync } from "node:fs";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { locateFile } from "./file-target.ts";
import { findOwnershipConcern, isOpenToOthers } from "./ownership.ts";
import { openRegularFile, readStart } from "./regular-file.ts";

/** A regular file, read once; all that is said about it is true of the very bytes in `content`. */
export interface CheckedFile {
  path: string;
  realPath: string;
  /** At most the bytes that were asked for. */
  content: Uint8Array;
  /** Bytes of the whole file. */
  size: number;
  /** Why it could have been written by somebody else; see `findOwnershipConcern`. */
  concern: string | undefined;
  isOpenToOthers: boolean;
}

/** What became of reading a file that need not be there. */
export type FileReading =
  | { kind: "missing" }
  /** `reason` is a sentence without its full stop, such as `/x is a named pipe`. */
  | { kind: "unreadable"; reason: string }
  | { kind: "file"; file: CheckedFile };

/** Reads a file of which nothing is known: it may be missing, a pipe, a directory, a link, huge, or somebody else's. Never throws. */
export async function readCheckedFile(path: string, maxBytes: number): Promise<FileReading> {
  try {
    if (!isThere(path)) return { kind: "missing" };
    const { realPath } = locateFile(path);
    const { handle, stats } = await openRegularFile(realPath);
    try {
      const content = await readStart(handle, maxBytes);
      const concern = findOwnershipConcern({ path, realPath, stats });
      const size = Math.max(Number(stats.size), content.length);
      return {
        kind: "file",
        file: { path, realPath, content, size, concern, isOpenToOthers: isOpenToOthers(stats) },
      };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { kind: "unreadable", reason: describeFailure(error, path) };
  }
}

/** True for anything of that name, a link that leads nowhere included. Throws where it may not be looked at. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent that is a file has nothing in it.
    if (systemErrorCode(error) === "ENOTDIR") return false;
    throw error;
  }
}

function describeFailure(error: unknown, path: string): string {
  const isSystemError = systemErrorCode(error) !== undefined;
  const text = isSystemError ? `Cannot read ${path}: ${systemErrorText(error)}` : systemErrorText(error);
  return text.replace(/\.$/, "");
}
