import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { userStateDirectory } from "../paths/user.ts";
import { isProcessAlive, ownIdentity, type ProcessIdentity } from "../process/tree.ts";
import { type Environment, monotonicMs, now, sleep } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { findRealPath } from "./real-path.ts";

const PAUSE_MS = 5;

/** No operation under a lock takes this long: an older lock was left by a dead process. */
const STALE_MS = 5_000;

const LIMIT_MS = 15_000;

/**
 * Calls `use` while no other diligent process does so for the same path; the lock is a file next to it.
 * @throws errors of `use`, errors of the file system, and an Error when the lock is not available for 15 seconds.
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
    // Another waiting process was faster.
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}

// The time between creating the file and writing its line: a process that takes longer has died.
const WRITING_MS = 2_000;

/** The locks of this process: a lock file with this process id that is not among them belongs to an earlier process. */
const held = new Set<string>();

/**
 * A lock that may be held for minutes: a private file (0600, its directory 0700) that names its process. The lock of a
 * dead process is ignored.
 */
export class SessionLock {
  private readonly releaseAtExit = () => this.release();

  /** @param path see `sessionLockPath`. */
  constructor(readonly path: string) {}

  /** True while a living process holds it, including this one. @throws errors of the file system. */
  isHeld(): boolean {
    if (held.has(this.path)) return true;
    const text = this.read();
    if (text === undefined) return false;
    const holder = parseIdentity(text);
    if (!holder) return this.isBeingWritten();
    return holder.pid !== process.pid && isProcessAlive(holder);
  }

  /** False when another process holds it. @throws errors of the file system: locking is not possible then. */
  async take(): Promise<boolean> {
    if (held.has(this.path)) return false;
    if (this.create()) return true;
    if (this.isHeld()) return false;
    // If several processes find a dead process's lock, only one takes it.
    return withFileLock(this.path, () => {
      if (this.isHeld()) return false;
      rmSync(this.path, { force: true });
      return this.create();
    });
  }

  /** Releases the lock; the end of the process does so too. */
  release(): void {
    if (!held.delete(this.path)) return;
    process.off("exit", this.releaseAtExit);
    try {
      if (parseIdentity(this.read() ?? "")?.pid === process.pid) unlinkSync(this.path);
    } catch {
      // The file system has become read-only: the lock ends with this process.
    }
  }

  private create(): boolean {
    try {
      writeNew(this.path, `${JSON.stringify(ownIdentity())}\n`);
    } catch (error) {
      if (systemErrorCode(error) === "EEXIST") return false;
      throw error;
    }
    held.add(this.path);
    process.on("exit", this.releaseAtExit);
    return true;
  }

  private read(): string | undefined {
    try {
      return readFileSync(this.path, "utf8");
    } catch (error) {
      if (systemErrorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  private isBeingWritten(): boolean {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    return stats !== undefined && Math.abs(now() - stats.mtimeMs) < WRITING_MS;
  }
}

/** Creates a file, and its directory if missing. @throws errors of the file system, EEXIST if the file exists. */
function writeNew(path: string, text: string): void {
  const options = { flag: "wx", mode: 0o600 };
  try {
    writeFileSync(path, text, options);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, options);
  }
}

/** Undefined for an unknown line. */
function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("pid" in value)) return undefined;
    const { pid } = value;
    // Zero and negative numbers mean groups of processes.
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
    const startTime = "startTime" in value ? value.startTime : undefined;
    return { pid, ...(typeof startTime === "string" && { startTime }) };
  } catch {
    return undefined; // The line is truncated, or from another program.
  }
}

// Sixteen digits are enough to distinguish all sessions of a user.
const NAME_DIGITS = 16;

/** `locks/HASH` in the user's state directory; undefined without one. Neither it nor the session's file need exist. */
export function sessionLockPath(environment: Environment, sessionPath: string): string | undefined {
  const state = userStateDirectory(environment);
  const realPath = findRealPath(sessionPath, "/");
  if (state === undefined || realPath === undefined) return undefined;
  return join(state, "locks", Bun.SHA256.hash(realPath, "hex").slice(0, NAME_DIGITS));
}
