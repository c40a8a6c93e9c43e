/** Milliseconds since the epoch. */
export function now(): number {
  return Date.now();
}

/** Milliseconds of a clock that never jumps, for measuring how long something took. */
export function monotonicMs(): number {
  return performance.now();
}

/** Resolves after `durationMs`, or as soon as `signal` is aborted; it never rejects. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

/** The date in UTC as `YYYY-MM-DD`; unlike the local one it needs no time zones, whose loading takes milliseconds. */
export function utcDate(at: number = Date.now()): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The local date as `YYYY-MM-DD`. */
export function localDate(at: number = Date.now()): string {
  const date = new Date(at);
  const month = String(date.getMonth() + 1).padStart(2, "0");
  const day = String(date.getDate()).padStart(2, "0");
  return `${date.getFullYear()}-${month}-${day}`;
}

/** The local time as `HH:mm`, with the date in front when it is not today. */
export function localTime(at: number): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
  return localDate(at) === localDate() ? time : `${localDate(at)} ${time}`;
}
