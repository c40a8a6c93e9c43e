import { monotonicMs } from "./runtime.ts";

/** Runs one piece of work after the other, in the order in which they were added. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Begins once everything before it has ended, however that did. Settles as `work` does. */
  add<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => {
      // Whoever asked for it is told; the next in the queue is not concerned.
    });
    return done;
  }

  /** Resolves once everything that was added so far has ended. It never rejects. */
  async settled(): Promise<void> {
    await this.last;
  }
}

/** Joins many requests for a call into few. */
interface Throttle {
  /** Asks for a call: it comes at the end of the current interval, one for any number of requests. */
  request(): void;
  /** Drops a call that is still due. */
  stop(): void;
}

/** Calls `action` at most once per interval, and not before the first interval is over. */
export function createThrottle(action: () => void, intervalMs: number): Throttle {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    request() {
      timer ??= setTimeout(() => {
        timer = undefined;
        action();
      }, intervalMs);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

// A frame of a screen and a byte of a stream wait no longer than that.
const SLICE_MS = 8;

/** The work was stopped on request. */
export class StoppedError extends Error {
  override name = "StoppedError";
}

/** Long work in short pieces, so that everything else continues in between. */
export class TimeSlicer {
  private begunMs = monotonicMs();

  constructor(private readonly signal?: AbortSignal | undefined) {}

  /** True when the others are to have their turn: then `pause` is to be waited for. */
  get isDue(): boolean {
    return monotonicMs() - this.begunMs > SLICE_MS;
  }

  /** @throws StoppedError once the signal is aborted. */
  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.signal?.aborted) throw new StoppedError("stopped");
    this.begunMs = monotonicMs();
  }
}
