import { join } from "node:path";
import { monotonicMs, sleep } from "../infrastructure/clock.ts";
import { SessionLock } from "../infrastructure/writing/session-lock.ts";

const PAUSE_MS = 10;

/** Somebody else is working on the same right now. */
export class BusySessionError extends Error {
  override name = "BusySessionError";
}

/** How long somebody waits who is not the only one, and what they are told. */
export interface MoveLockOptions {
  /** For so long somebody else may be at it. */
  waitMs: number;
  /** What is said after that. */
  refusal: string;
}

/**
 * Calls `use` while nobody else moves files of the project back or forth, or begins to change some. It is told whether it
 * had to wait. @throws BusySessionError, what `use` throws, and errors of the file system.
 */
export async function withMoveLock<T>(
  project: string,
  { waitMs, refusal }: MoveLockOptions,
  use: (hadToWait: boolean) => Promise<T>,
): Promise<T> {
  const lock = new SessionLock(join(project, "moving"));
  const begin = monotonicMs();
  let hadToWait = false;
  while (!(await lock.take())) {
    if (monotonicMs() - begin > waitMs) throw new BusySessionError(refusal);
    hadToWait = true;
    await sleep(PAUSE_MS);
  }
  try {
    return await use(hadToWait);
  } finally {
    lock.release();
  }
}
