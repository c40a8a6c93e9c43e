import { existsSync } from "node:fs";
import type { AgentEvent } from "../agent/types.ts";
import { SessionLock, sessionLockPath } from "../infrastructure/fs/lock.ts";
import { type Environment, monotonicMs, sleep } from "../infrastructure/runtime.ts";
import type { SessionLog } from "./log.ts";
import { isContinuable } from "./tree.ts";
import type { CompactionOutcome, SessionEntry } from "./types.ts";
import type { DeferredWriter } from "./writer.ts";

/** The locked session; `writer` is undefined if it is not saved. */
interface CompactionLockDeps {
  log: SessionLog;
  writer: DeferredWriter | undefined;
  /** The environment whose user state directory holds the locks; no waiting when left out. */
  lockLocation: Environment | undefined;
}

/** How waiting for another process is cancelled and reported. */
interface PassOptions {
  /** Aborting it ends the waiting. */
  signal?: AbortSignal | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** Lets processes that continue the same session wait for each other's compactions. */
export class CompactionLock {
  private isOurs = false;
  /** Settles when this process's compaction has the lock: a prompt sent meanwhile is added after its result. */
  private waiting: Promise<unknown> | undefined;

  constructor(private readonly parts: CompactionLockDeps) {}

  /**
   * Calls `begin` when no other process compacts this session; the conversation then continues from that
   * compaction. Calls it at once if there is nothing to wait for, as in every session that has no file yet.
   */
  pass(begin: () => void, options: PassOptions): void {
    const opening = this.open(options);
    if (opening) void opening.then(begin);
    else begin();
  }

  /**
   * Calls `compact` while no other process compacts this session, after adopting entries added meanwhile. If those
   * end with another process's compaction, that one is used instead.
   */
  async compact(
    compact: () => Promise<CompactionOutcome>,
    { isRunning = false, ...options }: PassOptions & { isRunning?: boolean },
  ): Promise<CompactionOutcome> {
    const lockPath = this.findLockPath();
    if (lockPath === undefined || this.isOurs) return compact();
    const taking = acquireCompactionLock({ ...options, lockPath });
    const isAborted = () => options.signal?.aborted === true;
    const ready = taking.then((turn) => {
      this.isOurs = true;
      this.waiting = undefined;
      // During a run the conversation is in the middle of a turn.
      return { turn, isCompacted: !isRunning && !isAborted() && turn.catchUp(this.parts) };
    });
    this.waiting = ready;
    const { turn, isCompacted } = await ready;
    try {
      if (isAborted()) return { kind: "aborted" };
      return isCompacted ? { kind: "nothing" } : await compact();
    } finally {
      this.isOurs = false;
      turn.end();
    }
  }

  private open(options: PassOptions): Promise<void> | undefined {
    const lockPath = this.findLockPath();
    if (lockPath === undefined || this.isOurs) return undefined;
    if (this.waiting) return this.waiting.then(() => undefined);
    if (!this.parts.writer?.hasGrown && !existsSync(lockPath)) return undefined;
    return awaitCompaction(this.parts, { ...options, lockPath });
  }

  private findLockPath(): string | undefined {
    const { lockLocation, writer } = this.parts;
    const path = lockLocation && writer?.path;
    return lockLocation && path ? sessionLockPath(lockLocation, path) : undefined;
  }
}

type Notice = Extract<AgentEvent, { type: "notice" }>;

/** Shown once per wait, after it has taken a while. */
const COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "info",
  code: "compacting_elsewhere",
  message: "Another process is compacting this session; waiting…",
};

/** Shown when the wait reaches its time limit. */
const STILL_COMPACTING_ELSEWHERE: Notice = {
  type: "notice",
  level: "warning",
  code: "still_compacting_elsewhere",
  message:
    "Another process is still compacting this session; continuing without it. Both conversations are kept: they are branches of the same session.",
};

const POLL_MS = 200;
const NOTIFY_AFTER_MS = 1_000;
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
async function awaitCompaction(parts: CompactionLockDeps, options: TurnOptions): Promise<void> {
  const lock = new SessionLock(options.lockPath);
  const [readFile] = await Promise.all([loadReader(), waitFor(() => !lock.isHeld(), options)]);
  catchUp(parts, { rule: "compaction", readFile });
}

/** Resolves with the lock held; without it if no lock is available, after the time limit and on abort. */
export async function acquireCompactionLock(options: TurnOptions): Promise<HeldCompactionLock> {
  const lock = new SessionLock(options.lockPath);
  const [readFile, isTaken] = await Promise.all([loadReader(), waitFor(() => lock.take(), options)]);
  return {
    catchUp: (parts) =>
      catchUp(parts, { rule: "always", readFile }) && parts.log.path().at(-1)?.type === "compaction",
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
  let isNotified = false;
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
    if (!isNotified && waitedMs >= NOTIFY_AFTER_MS) {
      isNotified = true;
      emit?.(COMPACTING_ELSEWHERE);
    }
    await sleep(POLL_MS, signal);
  }
  return false;
}

/** The code that reads the file is loaded here, since most sessions are never continued by another process. */
async function loadReader(): Promise<typeof import("./read-file.ts").readSessionFile> {
  return (await import("./read-file.ts")).readSessionFile;
}

interface Adoption {
  rule: AdoptionRule;
  readFile: Awaited<ReturnType<typeof loadReader>>;
}

function catchUp(parts: CompactionLockDeps, adoption: Adoption): boolean {
  try {
    return adoptEntries(parts, adoption);
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
function adoptEntries({ log, writer }: CompactionLockDeps, { rule, readFile }: Adoption): boolean {
  const path = writer?.path;
  if (!writer || !path || !writer.hasGrown || log.leafId === null) return false;
  const { entries, size } = readFile(path, { redactor: log.redactor });
  const added = entries.filter(({ id }) => !log.has(id));
  const leafId = findLeafAfter(log.leafId, added, rule);
  if (leafId === undefined) return false;
  log.adopt(added, leafId);
  writer.adopt(added, size);
  return true;
}

/** The last of the added entries at which a conversation from `leafId` ends. */
function findLeafAfter(
  leafId: string,
  added: readonly SessionEntry[],
  rule: AdoptionRule,
): string | undefined {
  // For each entry that descends from the leaf: whether it is acceptable.
  const isAcceptable = new Map<string, boolean>([[leafId, rule === "always"]]);
  let found: string | undefined;
  for (const entry of added) {
    const isParentEnough = entry.parentId === null ? undefined : isAcceptable.get(entry.parentId);
    if (isParentEnough === undefined) continue;
    const isEnough = isParentEnough || entry.type === "compaction";
    isAcceptable.set(entry.id, isEnough);
    if (isEnough && isContinuable(entry)) found = entry.id;
  }
  return found;
}
