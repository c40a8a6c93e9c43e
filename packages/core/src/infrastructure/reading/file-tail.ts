import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { specialFileKind } from "./file-target.ts";
import { findOwnershipConcern } from "./ownership.ts";

// Never waits for a pipe's other end, never follows a link.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The end of a file, or all of a short one. */
export interface FileTail {
  bytes: Uint8Array;
  /** False when the file is longer: `bytes` then begins anywhere, also within a character. */
  isWhole: boolean;
}

/**
 * The last `maxBytes` of a file that only this user can have written.
 * @throws Error for what is no regular file and for what somebody else could have written; errors of the file system.
 */
export function readOwnTail(path: string, maxBytes: number): FileTail {
  const fd = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(fd, { bigint: true });
    const kind = specialFileKind(stats);
    if (kind !== undefined) throw new Error(`it is ${kind}`);
    const concern = findOwnershipConcern({ path, realPath: path, stats });
    if (concern !== undefined) throw new Error(concern);
    const size = Number(stats.size);
    const start = Math.max(0, size - maxBytes);
    return { bytes: readFrom(fd, start, size - start), isWhole: start === 0 };
  } finally {
    closeSync(fd);
  }
}

function readFrom(fd: number, start: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, start + filled);
    // It became shorter meanwhile.
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
