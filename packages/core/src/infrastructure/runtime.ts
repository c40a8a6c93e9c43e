import { homedir, release, tmpdir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { systemErrorCode } from "./system-error.ts";

/** Milliseconds since the epoch. */
export function now(): number {
  return Date.now();
}

/** Milliseconds of a monotonic clock, for measuring durations. */
export function monotonicMs(): number {
  return performance.now();
}

/** Resolves after `durationMs`, or as soon as `signal` is aborted; it never rejects. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

/**
 * The date in UTC as `YYYY-MM-DD`; unlike the local date it needs no time zone data, which takes milliseconds to load.
 */
export function utcDate(at: number = Date.now()): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The local date as `YYYY-MM-DD`. */
export function localDate(at: number = Date.now()): string {
  const date = new Date(at);
  const month = String(date.getMonth() + 1).padStart(2, "0");
  const day = String(date.getDate()).padStart(2, "0");
  return `${date.getFullYear()}-${month}-${day}`;
}

/** The local time as `HH:mm`, with the date in front when it is not today. */
export function localTime(at: number): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
  return localDate(at) === localDate() ? time : `${localDate(at)} ${time}`;
}

/** Environment variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process: the default wherever one can be passed in. */
export function processEnvironment(): Environment {
  return process.env;
}

/** The user's home directory, absolute; undefined without one. A relative `HOME` counts as unset. */
export function homeDirectory(environment: Environment = process.env): string | undefined {
  const named = environment.HOME || homedir();
  const home = isAbsolute(named) ? named : (processAccount().home ?? "");
  return isAbsolute(home) && home !== "/" ? home : undefined;
}

/** The account of this process as the system knows it, whatever the environment says. */
export function processAccount(): { home: string | undefined; isAdministrator: boolean } {
  const isAdministrator = process.getuid?.() === 0;
  try {
    const home = userInfo().homedir; // Bun uses HOME for it.
    return { home: isAbsolute(home) ? home : undefined, isAdministrator };
  } catch {
    return { home: undefined, isAdministrator }; // In a container the user id may have no account.
  }
}

/** The user and group ids of this process; 0 if the system has none. */
export function processOwner(): { userId: number; groupId: number } {
  return { userId: process.getuid?.() ?? 0, groupId: process.getgid?.() ?? 0 };
}

/** The directory in `TMPDIR`, or the system's: shared with other users, and possibly a link. */
export function temporaryDirectory(): string {
  return tmpdir();
}

/** Node's name of the processor, such as `x64` or `arm64`. */
export function processorName(): string {
  return process.arch;
}

/** The program that runs this one, absolute: Bun, or the packaged program. */
export function executablePath(): string {
  return process.execPath;
}

/** Node's name of the operating system, such as `linux` or `darwin`. */
export function platformName(): string {
  return process.platform;
}

/** The kernel's version, such as `6.14.0-generic`. */
export function kernelRelease(): string {
  return release();
}

/** An id for a session entry: 8 hexadecimal digits. The caller ensures that it is unique. */
export function generateEntryId(): string {
  return randomHex(4);
}

/** An id for a session that sorts by time: `YYYYMMDDHHmmss-` (UTC) and 6 hexadecimal digits. */
export function generateSessionId(at: Date = new Date()): string {
  const stamp = at.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return `${stamp}-${randomHex(3)}`;
}

/** Random bytes as hexadecimal digits. `node:crypto` would do as well, but takes 5 ms to load. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}

/** True while any process has this number; a process of another user with the same number counts too. */
export function isProcessRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
}
