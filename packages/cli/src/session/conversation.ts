import { type AgentEvent, type ContentBlock, now, type SessionManager } from "@diligent/core/run";

interface RunningTask<What> {
  what: What;
  abort: AbortController;
  ended: Promise<void>;
}

/** Observers of the task. */
interface WorkListener {
  /** With the error; `ended` follows. */
  failed(error: unknown): void;
  /** No task is running any more; queued work may start. */
  ended(): void;
}

/** What a conversation is busy with, such as a run of the model: one task at a time, which can be stopped. */
export class ActiveTask<What> {
  private current: RunningTask<What> | undefined;

  constructor(private readonly listener: WorkListener) {}

  /** Undefined while no task is running. */
  get what(): What | undefined {
    return this.current?.what;
  }

  /** The task was stopped and has not ended yet. */
  get isStopped(): boolean {
    return this.signal?.aborted ?? false;
  }

  /** Aborted when the task is stopped. */
  get signal(): AbortSignal | undefined {
    return this.current?.abort.signal;
  }

  /** Resolves when the task has ended. */
  get ended(): Promise<void> | undefined {
    return this.current?.ended;
  }

  /**
   * Starts immediately, and resolves when it has ended, whatever the outcome.
   * @throws Error while another task is running.
   */
  async begin(what: What, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.current !== undefined) throw new Error("Another task is already running.");
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.current = { what, abort, ended: ended.promise };
    try {
      await work(abort.signal);
    } catch (error) {
      this.listener.failed(error);
    } finally {
      this.current = undefined;
      this.listener.ended();
      ended.resolve();
    }
  }

  /** Resolves when the task has ended. */
  async stop(): Promise<void> {
    const { current } = this;
    current?.abort.abort();
    await current?.ended;
  }
}

// A command being ended gets a second between TERM and KILL.
const STOP_GRACE_MS = 1_300;
// A user who asks twice does not wait for a command that does not end.
const REPEATED_STOP_GRACE_MS = 200;
// However long closing something hangs, the program ends within two seconds of a signal.
const EXIT_GRACE_MS = 600;

interface ShutdownDeps {
  /** Stops the current task and resolves when it has ended. */
  stop(): Promise<void>;
  /** The current task was stopped before and has not ended yet. */
  isStopped(): boolean;
  /** Ends the program immediately. */
  exit(code: number): void;
}

/** Shutdown of a conversation: the current task gets a moment to end, then nothing is awaited. */
export class Shutdown {
  private readonly left = Promise.withResolvers<number>();
  private isBegun = false;

  constructor(private readonly deps: ShutdownDeps) {}

  /** Shutdown was requested. */
  get isShuttingDown(): boolean {
    return this.isBegun;
  }

  /** Resolves with the exit code once there is nothing left to wait for. Rejects with the error passed to `fail`. */
  get code(): Promise<number> {
    return this.left.promise;
  }

  /** May be called again, which shortens the time limits. */
  leave(code: number): void {
    const { stop, isStopped, exit } = this.deps;
    const graceMs = this.isBegun || isStopped() ? REPEATED_STOP_GRACE_MS : STOP_GRACE_MS;
    this.isBegun = true;
    void Promise.race([stop(), Bun.sleep(graceMs)]).then(() => this.left.resolve(code));
    setTimeout(() => exit(code), graceMs + EXIT_GRACE_MS);
  }

  /** The conversation cannot continue. */
  readonly fail = (error: unknown): void => this.left.reject(error);
}

interface PromptRun {
  signal: AbortSignal;
  /** Gets the events of the run, in order. */
  show(event: AgentEvent): void;
}

/** Sends the user's message, and resolves when its run has ended. @throws Error while another run is in progress. */
export async function runPrompt(
  session: SessionManager,
  content: string | ContentBlock[],
  { signal, show }: PromptRun,
): Promise<void> {
  await session.run({ role: "user", content, timestamp: now() }, { signal }).consume(show);
}

/** How a summary is stopped, and who is notified about the result. */
export interface SummaryControl {
  signal: AbortSignal;
  /** Gets the events. */
  emit(event: AgentEvent): void;
  /** Reports that it produced nothing, and why. */
  say(text: string): void;
}

/** Summarizes the older part of the conversation. @param focus what the summary must keep above all. */
export async function compactConversation(
  session: SessionManager,
  focus: string | undefined,
  { signal, emit, say }: SummaryControl,
): Promise<void> {
  const { kind } = await session.compact({ focus, signal, emit });
  if (kind === "nothing") say("Nothing to summarize yet.");
  if (kind === "aborted") say("Stopped: the session is unchanged.");
}

/**
 * Continues from an earlier entry (null: from the beginning), with a summary of the abandoned branch.
 * @returns false if it was stopped, which was reported.
 */
export async function leaveBranch(
  session: SessionManager,
  entryId: string | null,
  { signal, emit, say }: SummaryControl,
): Promise<boolean> {
  const isDone = await session.branches.leave(entryId, { signal, emit });
  if (!isDone) say("Stopped: the conversation is unchanged.");
  return isDone;
}
