import { existsSync } from "node:fs";
import type { AgentEvent } from "../agent/types.ts";
import { sessionLockPath } from "../infrastructure/fs/lock.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SessionLog } from "./log.ts";
import type { CompactionOutcome } from "./types.ts";
import type { DeferredWriter } from "./writer.ts";

/** The locked session; `writer` is undefined where it is not saved. */
export interface CompactionLockDeps {
  log: SessionLog;
  writer: DeferredWriter | undefined;
  /** The environment whose user state directory holds the locks; no waiting when left out. */
  lockLocation: Environment | undefined;
}

/** How waiting for another process is cancelled and reported. */
export interface PassOptions {
  /** Aborting it ends the waiting. */
  signal?: AbortSignal | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** Lets processes that continue the same session wait for each other's compactions. */
export class CompactionLock {
  private isOurs = false;
  /** Settles when our own compaction has the lock: a prompt sent meanwhile is added after its result. */
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
    const taking = import("./compaction-turn.ts").then(({ takeTurn }) => takeTurn({ ...options, lockPath }));
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
    return import("./compaction-turn.ts").then(({ awaitCompaction }) =>
      awaitCompaction(this.parts, { ...options, lockPath }),
    );
  }

  private findLockPath(): string | undefined {
    const { lockLocation, writer } = this.parts;
    const path = lockLocation && writer?.path;
    return lockLocation && path ? sessionLockPath(lockLocation, path) : undefined;
  }
}
