import { closeSync, lstatSync, openSync, unlinkSync } from "node:fs";
import { monotonicMs, now, sleep } from "../clock.ts";
import { systemErrorCode } from "../system-error.ts";

const PAUSE_MS = 5;

/** Nothing that is done under a lock takes long: an older one was left behind by a process that died. */
const STALE_MS = 5_000;

const LIMIT_MS = 15_000;

/**
 * Calls `use` while no other process of ours does so for the same path; the sign of it is a file beside it.
 * @throws what `use` throws, errors of the file system, and an Error when the lock is not to be had for 15 seconds.
 */
export async function withFileLock<T>(path: string, use: () => T): Promise<T> {
  const lockPath = `${path}.lock`;
  const begin = monotonicMs();
  while (!tryLock(lockPath)) {
    if (monotonicMs() - begin > LIMIT_MS) throw new Error(`${lockPath} is held by another process.`);
    removeStale(lockPath);
    await sleep(PAUSE_MS);
  }
  try {
    return use();
  } finally {
    unlinkSync(lockPath);
  }
}

function tryLock(lockPath: string): boolean {
  try {
    closeSync(openSync(lockPath, "wx", 0o600));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeStale(lockPath: string): void {
  const stats = lstatSync(lockPath, { throwIfNoEntry: false });
  if (stats === undefined || now() - stats.mtimeMs < STALE_MS) return;
  try {
    unlinkSync(lockPath);
  } catch (error) {
    // Another waiting process was quicker.
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}
