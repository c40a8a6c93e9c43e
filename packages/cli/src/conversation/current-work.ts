interface Going<What> {
  what: What;
  abort: AbortController;
  ended: Promise<void>;
}

/** Who is told of the work. */
interface WorkListener {
  /** With what it has thrown; `ended` follows. */
  failed(error: unknown): void;
  /** Nothing goes on any more; what waited for that may begin. */
  ended(): void;
}

/** What a conversation is busy with, such as a run of the model's: one thing at a time, which can be stopped. */
export class CurrentWork<What> {
  private going: Going<What> | undefined;

  constructor(private readonly listener: WorkListener) {}

  /** Undefined while nothing goes on. */
  get what(): What | undefined {
    return this.going?.what;
  }

  /** It was stopped, and has not ended yet. */
  get isStopped(): boolean {
    return this.signal?.aborted ?? false;
  }

  /** Aborted when what goes on is stopped. */
  get signal(): AbortSignal | undefined {
    return this.going?.abort.signal;
  }

  /** Resolves when what goes on has ended. */
  get ended(): Promise<void> | undefined {
    return this.going?.ended;
  }

  /**
   * Begins at once, and resolves when it has ended, however that was.
   * @throws Error while something else goes on, which is left alone.
   */
  async begin(what: What, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.going !== undefined) throw new Error("Nothing can begin until what goes on has ended.");
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.going = { what, abort, ended: ended.promise };
    try {
      await work(abort.signal);
    } catch (error) {
      this.listener.failed(error);
    } finally {
      this.going = undefined;
      this.listener.ended();
      ended.resolve();
    }
  }

  /** Resolves when what goes on has ended. */
  async stop(): Promise<void> {
    const { going } = this;
    going?.abort.abort();
    await going?.ended;
  }
}
