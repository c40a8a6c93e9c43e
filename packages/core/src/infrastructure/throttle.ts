/** Joins many requests for a call into few. */
export interface Throttle {
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
