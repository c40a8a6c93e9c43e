import { dlopen, FFIType, type Pointer, read } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";
import { libcNames } from "../libc-names.ts";
import { monotonicMs, platformName, sleep } from "../runtime.ts";

// From <sys/file.h>, the same on Linux and macOS.
const LOCK_EXCLUSIVE = 2;
const LOCK_WITHOUT_WAITING = 4;

// What the system answers where the file system has no such locks: EBADF, EINVAL, ENOSYS, ENOLCK, EOPNOTSUPP.
const UNSUPPORTED: Readonly<Record<string, ReadonlySet<number>>> = {
  linux: new Set([9, 22, 38, 37, 95]),
  darwin: new Set([9, 22, 78, 77, 45, 102]),
};

const PAUSE_MS = 2;

/** A change takes some milliseconds: a process that holds the lock that long has been stopped. */
const LIMIT_MS = 10_000;

/**
 * Calls `change` while no other process of ours does so in the same directory. The lock is on the open directory itself:
 * it leaves no file anywhere, and the system releases it when its process dies, in whatever way. Where the directory
 * cannot be locked (it is not there, not readable, or its file system has no locks) `change` is called without.
 * @throws what `change` throws, and an Error when another process holds the lock for ten seconds.
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
    // Nothing is waited for from here on: no program that is started meanwhile could keep the lock.
    return change();
  } finally {
    closeSync(descriptor);
  }
}

function openForLock(directory: string): number | undefined {
  try {
    return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return undefined; // What is wrong with it, `change` will find out and say.
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

/** Null where there is no C library to call. */
let calls: Calls | null | undefined;

/** Neither Node nor Bun can lock a file. */
function loadCalls(): Calls | null {
  const { int, ptr } = FFIType;
  const flock = { args: [int, int], returns: int } as const;
  const place = { args: [], returns: ptr } as const;
  for (const library of libcNames()) {
    try {
      if (platformName() === "darwin") {
        const { symbols } = dlopen(library, { flock, __error: place });
        return { flock: symbols.flock, errorNumber: () => readNumber(symbols.__error()) };
      }
      const { symbols } = dlopen(library, { flock, __errno_location: place });
      return { flock: symbols.flock, errorNumber: () => readNumber(symbols.__errno_location()) };
    } catch {
      // Not this library; the next one.
    }
  }
  return null;
}

function readNumber(place: Pointer | bigint | null): number {
  return typeof place === "number" ? read.i32(place) : 0;
}
