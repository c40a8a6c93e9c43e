import { monotonicMs, sleep } from "../infrastructure/clock.ts";
import { SessionLock } from "../infrastructure/writing/session-lock.ts";
import { type AdoptionRule, adoptEntries } from "./adopt-entries.ts";
import type { GateParts, PassOptions } from "./session-gate.ts";
import { COMPACTING_ELSEWHERE, STILL_COMPACTING_ELSEWHERE } from "./session-notices.ts";

const POLL_MS = 200;
const TELL_AFTER_MS = 1_000;
// A summary in pieces takes a few minutes at most; nobody waits for ever for a process that hangs.
const LIMIT_MS = 10 * 60 * 1_000;

interface TurnOptions extends PassOptions {
  lockPath: string;
  /** Ten minutes when left out. */
  limitMs?: number;
}

/** A time in which no other process compacts the session. */
export interface SessionTurn {
  /** Goes on behind what others have added. True when that ends with a compaction: theirs does for both then. */
  catchUp(parts: GateParts): boolean;
  end(): void;
}

/** See `SessionGate.pass`. */
export async function awaitCompaction(parts: GateParts, options: TurnOptions): Promise<void> {
  const lock = new SessionLock(options.lockPath);
  await waitFor(() => !lock.isHeld(), options);
  catchUp(parts, "compaction");
}

/** Resolves with the lock held; without it where there is none to be had, when time is up and when it was aborted. */
export async function takeTurn(options: TurnOptions): Promise<SessionTurn> {
  const lock = new SessionLock(options.lockPath);
  const isTaken = await waitFor(() => lock.take(), options);
  return {
    catchUp: (parts) => catchUp(parts, "always") && parts.log.path().at(-1)?.type === "compaction",
    end: () => {
      if (isTaken) lock.release();
    },
  };
}

/** True once `attempt` is; false when it is given up. */
async function waitFor(
  attempt: () => boolean | Promise<boolean>,
  { signal, emit, limitMs = LIMIT_MS }: TurnOptions,
): Promise<boolean> {
  const startedAt = monotonicMs();
  let isTold = false;
  while (!signal?.aborted) {
    try {
      if (await attempt()) return true;
    } catch {
      // A read-only or full home: then nobody else holds a lock there either.
      return false;
    }
    const waitedMs = monotonicMs() - startedAt;
    if (waitedMs >= limitMs) {
      emit?.(STILL_COMPACTING_ELSEWHERE);
      return false;
    }
    if (!isTold && waitedMs >= TELL_AFTER_MS) {
      isTold = true;
      emit?.(COMPACTING_ELSEWHERE);
    }
    await sleep(POLL_MS, signal);
  }
  return false;
}

function catchUp(parts: GateParts, rule: AdoptionRule): boolean {
  try {
    return adoptEntries(parts, rule);
  } catch {
    // Removed or damaged meanwhile: what we have goes on, and the writer says what is to be said.
    return false;
  }
}
