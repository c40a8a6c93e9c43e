import { monotonicMs } from "./runtime.ts";

/** Runs tasks one after the other, in the order in which they were added. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Starts `work` once all earlier tasks have ended, whatever their outcome. Settles like `work`. */
  add<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => {
      // The caller receives the error; the next task does not depend on it.
    });
    return done;
  }

  /** Resolves once all tasks added so far have ended. It never rejects. */
  async settled(): Promise<void> {
    await this.last;
  }
}

/** Combines many requests for a call into few calls. */
interface Throttle {
  /** Requests a call. It happens at the end of the current interval, once for any number of requests. */
  request(): void;
  /** Cancels a pending call. */
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

// The longest time that a screen frame or a stream byte may be delayed.
const SLICE_MS = 8;

/** The work was stopped on request. */
export class StoppedError extends Error {
  override name = "StoppedError";
}

/** Splits long work into short slices, so that other tasks can run in between. */
export class TimeSlicer {
  private begunMs = monotonicMs();

  constructor(private readonly signal?: AbortSignal | undefined) {}

  /** True when other tasks must run: then await `pause`. */
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
