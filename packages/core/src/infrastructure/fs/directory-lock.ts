import { dlopen, FFIType, type Pointer, read } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";
import { libcNames } from "../libc-names.ts";
import { monotonicMs, platformName, sleep } from "../runtime.ts";

// From <sys/file.h>, the same values on Linux and macOS.
const LOCK_EXCLUSIVE = 2;
const LOCK_WITHOUT_WAITING = 4;

// The error numbers of file systems without such locks: EBADF, EINVAL, ENOSYS, ENOLCK, EOPNOTSUPP.
const UNSUPPORTED: Readonly<Record<string, ReadonlySet<number>>> = {
  linux: new Set([9, 22, 38, 37, 95]),
  darwin: new Set([9, 22, 78, 77, 45, 102]),
};

const PAUSE_MS = 2;

/** A change takes a few milliseconds: a process that holds the lock this long has been stopped. */
const LIMIT_MS = 10_000;

/**
 * Calls `change` while no other diligent process changes files in the same directory. The lock is on the open directory
 * itself: it leaves no file behind, and the system releases it when its process dies. If the directory cannot be locked
 * (it is missing, not readable, or its file system has no locks), `change` is called without a lock.
 * @throws errors of `change`, and an Error when another process holds the lock for ten seconds.
 */
export async function withDirectoryLock<T>(directory: string, change: () => T): Promise<T> {
  const descriptor = openForLock(directory);
  if (descriptor === undefined) return change();
  try {
    const begin = monotonicMs();
    while (tryLock(descriptor) === "held") {
      if (monotonicMs() - begin > LIMIT_MS) {
        throw new Error(
          `Another process has been changing files in ${directory} for ten seconds. Try again.`,
        );
      }
      await sleep(PAUSE_MS);
    }
    // Synchronous from here on: a child process started meanwhile could otherwise inherit the lock.
    return change();
  } finally {
    closeSync(descriptor);
  }
}

function openForLock(directory: string): number | undefined {
  try {
    return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return undefined; // `change` reports the error.
  }
}

function tryLock(descriptor: number): "locked" | "held" | "unsupported" {
  calls ??= loadCalls();
  if (calls === null) return "unsupported";
  if (calls.flock(descriptor, LOCK_EXCLUSIVE | LOCK_WITHOUT_WAITING) === 0) return "locked";
  return UNSUPPORTED[platformName()]?.has(calls.errorNumber()) ? "unsupported" : "held";
}

interface Calls {
  flock(descriptor: number, operation: number): number;
  errorNumber(): number;
}

/** Null when no C library can be called. */
let calls: Calls | null | undefined;

/** Neither Node nor Bun can lock a file. */
function loadCalls(): Calls | null {
  const { int, ptr } = FFIType;
  const flock = { args: [int, int], returns: int } as const;
  const location = { args: [], returns: ptr } as const;
  for (const library of libcNames()) {
    try {
      if (platformName() === "darwin") {
        const { symbols } = dlopen(library, { flock, __error: location });
        return { flock: symbols.flock, errorNumber: () => readNumber(symbols.__error()) };
      }
      const { symbols } = dlopen(library, { flock, __errno_location: location });
      return { flock: symbols.flock, errorNumber: () => readNumber(symbols.__errno_location()) };
    } catch {
      // Try the next library.
    }
  }
  return null;
}

function readNumber(location: Pointer | bigint | null): number {
  return typeof location === "number" ? read.i32(location) : 0;
}
