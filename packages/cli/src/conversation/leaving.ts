// A command that is being ended gets a second between TERM and KILL.
const PATIENCE_MS = 1_300;
// Who asks twice waits for no command that does not want to end.
const IMPATIENCE_MS = 200;
// However a thing that is to be closed hangs, the program ends within two seconds of a signal.
const LAST_RESORT_MS = 600;

interface LeavingParts {
  /** Stops what goes on and resolves when it has ended. */
  stop(): Promise<void>;
  /** What goes on was stopped before, and has not ended yet. */
  isStopped(): boolean;
  /** Ends the program at once. */
  exit(code: number): void;
}

/** How a conversation is left: what goes on is given a moment to end, and then nothing is waited for. */
export class Leaving {
  private readonly left = Promise.withResolvers<number>();
  private isBegun = false;

  constructor(private readonly parts: LeavingParts) {}

  /** Somebody has asked for it. */
  get isLeaving(): boolean {
    return this.isBegun;
  }

  /** Resolves with the exit code once there is nothing left to wait for. Rejects with what `fail` was given. */
  get code(): Promise<number> {
    return this.left.promise;
  }

  /** May be called again: then there is less patience. */
  leave(code: number): void {
    const { stop, isStopped, exit } = this.parts;
    const patienceMs = this.isBegun || isStopped() ? IMPATIENCE_MS : PATIENCE_MS;
    this.isBegun = true;
    void Promise.race([stop(), Bun.sleep(patienceMs)]).then(() => this.left.resolve(code));
    setTimeout(() => exit(code), patienceMs + LAST_RESORT_MS);
  }

  /** The conversation cannot go on. */
  readonly fail = (error: unknown): void => this.left.reject(error);
}
