import { SessionLock } from "../infrastructure/fs/lock.ts";
import { monotonicMs, sleep } from "../infrastructure/runtime.ts";
import type { CompactionLockDeps, PassOptions } from "./compaction-lock.ts";
import { COMPACTING_ELSEWHERE, STILL_COMPACTING_ELSEWHERE } from "./notices.ts";
import type { LiveSession } from "./open.ts";
import { readSessionFile } from "./read-file.ts";
import { isContinuable } from "./tree.ts";
import type { SessionEntry } from "./types.ts";

const POLL_MS = 200;
const TELL_AFTER_MS = 1_000;
// A summary in parts takes a few minutes at most; a hanging process must not block others forever.
const LIMIT_MS = 10 * 60 * 1_000;

interface TurnOptions extends PassOptions {
  lockPath: string;
  /** Ten minutes by default. */
  limitMs?: number;
}

/** Exclusive access for compacting a session. */
interface HeldCompactionLock {
  /**
   * Adopts entries that other processes have added. True if they end with a compaction, which then serves for both.
   */
  catchUp(parts: CompactionLockDeps): boolean;
  end(): void;
}

/** See `CompactionLock.pass`. */
export async function awaitCompaction(parts: CompactionLockDeps, options: TurnOptions): Promise<void> {
  const lock = new SessionLock(options.lockPath);
  await waitFor(() => !lock.isHeld(), options);
  catchUp(parts, "compaction");
}

/** Resolves with the lock held; without it if no lock is available, after the time limit and on abort. */
export async function takeTurn(options: TurnOptions): Promise<HeldCompactionLock> {
  const lock = new SessionLock(options.lockPath);
  const isTaken = await waitFor(() => lock.take(), options);
  return {
    catchUp: (parts) => catchUp(parts, "always") && parts.log.path().at(-1)?.type === "compaction",
    end: () => {
      if (isTaken) lock.release();
    },
  };
}

/** True once `attempt` succeeds; false when it gives up. */
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
      // The home directory is read-only or full: no other process holds a lock there either.
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

function catchUp(parts: CompactionLockDeps, rule: AdoptionRule): boolean {
  try {
    return adoptEntries(parts, rule);
  } catch {
    // Removed or damaged meanwhile: continue with the entries in memory; the writer reports it.
    return false;
  }
}

/** `compaction`: only if the entries after our leaf include a compaction; otherwise there are two branches. */
type AdoptionRule = "always" | "compaction";

/**
 * Continues after entries that other processes have added after our leaf since the file was read, as reopening the
 * session would. False if there are none.
 * @throws SessionFileError and errors of the file system; nothing has changed then.
 */
function adoptEntries({ log, writer }: Pick<LiveSession, "log" | "writer">, rule: AdoptionRule): boolean {
  const path = writer?.path;
  if (!writer || !path || !writer.hasGrown || log.leafId === null) return false;
  const { entries, size } = readSessionFile(path, { redactor: log.redactor });
  const added = entries.filter(({ id }) => !log.has(id));
  const leafId = findLeafBehind(log.leafId, added, rule);
  if (leafId === undefined) return false;
  log.adopt(added, leafId);
  writer.adopt(added, size);
  return true;
}

/** The last of the added entries at which a conversation from `leafId` ends. */
function findLeafBehind(
  leafId: string,
  added: readonly SessionEntry[],
  rule: AdoptionRule,
): string | undefined {
  // For each entry that descends from the leaf: whether it is acceptable.
  const behind = new Map<string, boolean>([[leafId, rule === "always"]]);
  let found: string | undefined;
  for (const entry of added) {
    const isParentEnough = entry.parentId === null ? undefined : behind.get(entry.parentId);
    if (isParentEnough === undefined) continue;
    const isEnough = isParentEnough || entry.type === "compaction";
    behind.set(entry.id, isEnough);
    if (isEnough && isContinuable(entry)) found = entry.id;
  }
  return found;
}
