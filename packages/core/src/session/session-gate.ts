import { existsSync } from "node:fs";
import type { AgentEvent } from "../agent/types.ts";
import type { Environment } from "../infrastructure/environment.ts";
import { sessionLockPath } from "../infrastructure/places/session-lock-path.ts";
import type { CompactionOutcome } from "./context/context-guard.ts";
import type { DeferredWriter } from "./deferred-writer.ts";
import type { SessionLog } from "./session-log.ts";

/** A session as its gate knows it; `writer` is undefined where it is not saved. */
export interface GateParts {
  log: SessionLog;
  writer: DeferredWriter | undefined;
  /** The environment whose user state directory holds the locks; nobody is waited for when left out. */
  lockPlace: Environment | undefined;
}

/** How waiting for another process is ended and told. */
export interface PassOptions {
  /** Aborting it ends the waiting. */
  signal?: AbortSignal | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** Where processes that go on with the same session wait for each other's compactions. */
export class SessionGate {
  private isOurs = false;
  /** Settles when our own compaction has its turn: a prompt sent meanwhile joins behind what was added. */
  private waiting: Promise<unknown> | undefined;

  constructor(private readonly parts: GateParts) {}

  /**
   * Calls `begin` when no other process compacts this session; the conversation goes on from its compaction then. At once
   * when there is nothing to wait for, as in every session that has no file yet.
   */
  pass(begin: () => void, options: PassOptions): void {
    const opening = this.open(options);
    if (opening) void opening.then(begin);
    else begin();
  }

  /**
   * Calls `compact` while no other process compacts this session, behind what was added to it meanwhile. Where that ends
   * with another's compaction, two were asked for at once, and they are one.
   */
  async compact(
    compact: () => Promise<CompactionOutcome>,
    { isRunning = false, ...options }: PassOptions & { isRunning?: boolean },
  ): Promise<CompactionOutcome> {
    const lockPath = this.findLockPath();
    if (lockPath === undefined || this.isOurs) return compact();
    const taking = import("./session-turn.ts").then(({ takeTurn }) => takeTurn({ ...options, lockPath }));
    const isAborted = () => options.signal?.aborted === true;
    const ready = taking.then((turn) => {
      this.isOurs = true;
      this.waiting = undefined;
      // Within a run the conversation is in the middle of a turn.
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
    return import("./session-turn.ts").then(({ awaitCompaction }) =>
      awaitCompaction(this.parts, { ...options, lockPath }),
    );
  }

  private findLockPath(): string | undefined {
    const { lockPlace, writer } = this.parts;
    const path = lockPlace && writer?.path;
    return lockPlace && path ? sessionLockPath(lockPlace, path) : undefined;
  }
}
