import type { CliIo, SignalName } from "./cli-io.ts";
import { SIGNAL_EXIT_CODES } from "./exit-codes.ts";

// A command's process group gets a second between TERM and KILL; a program asked to end is expected to within two.
const PATIENCE_MS = 1300;
const LAST_RESORT_MS = 400;

/** What signals ask of a run in print mode. */
export interface SignalWatch {
  /** Aborted by the first signal: the run is to end in good order. */
  readonly stop: AbortSignal;
  /** Resolves when waiting for that has to end: at the second signal, or a while after the first. */
  readonly expired: Promise<void>;
  /** The first signal that arrived. */
  readonly received: SignalName | undefined;
  /** Stops watching. Once a signal has arrived the program still ends in time, whatever hangs afterwards. */
  dispose(): void;
}

/** Watches for the signals that end a run. */
export function watchSignals(io: Pick<CliIo, "onSignal" | "exit">): SignalWatch {
  const stop = new AbortController();
  const expired = Promise.withResolvers<void>();
  let received: SignalName | undefined;
  const expire = (code: number) => {
    expired.resolve();
    setTimeout(() => io.exit(code), LAST_RESORT_MS);
  };
  const unsubscribe = io.onSignal((signal) => {
    const isFirst = received === undefined;
    received ??= signal;
    const code = SIGNAL_EXIT_CODES[received];
    if (!isFirst) return expire(code);
    setTimeout(() => expire(code), PATIENCE_MS);
    stop.abort();
  });
  return {
    stop: stop.signal,
    expired: expired.promise,
    get received() {
      return received;
    },
    dispose: unsubscribe,
  };
}
