import { sleep } from "../runtime.ts";
import { OutputReader } from "./output-reader.ts";
import { type ChildProcess, type ProcessExit, type ProcessOptions, startProcess } from "./process.ts";

/** A program with what ends it early. */
interface CommandOptions extends ProcessOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Called with stdout and stderr as they come, until the command has returned. */
  onOutput(chunk: Uint8Array): void;
  /** Ends it where ending its processes one by one has failed; see `WrappedCommand`. */
  endSession?: ((reason: string) => Promise<void>) | undefined;
}

/** How a command came back; what it left running may outlive this. */
export interface CommandEnd extends ProcessExit {
  /** What ended it: itself, the time limit, or the signal. */
  cause: "exit" | "timeout" | "abort";
  /** True when something of it still runs: in the background after an exit, or because it could not be ended. */
  survivors: boolean;
  /** False where a program that reports what it does did not get that far; see `ProcessOptions.reportsEnd`. */
  hasBegun: boolean;
  /** Resolves when nothing of a program that reports its end runs any more; see `ProcessOptions.reportsEnd`. */
  gone: Promise<unknown>;
}

// After an interrupt somebody waits for the prompt: what ignores TERM is killed behind the returned result.
const ABORT_PATIENCE_MS = 600;

/**
 * Runs a program until it ends, its time is over or it is interrupted; in the last two cases everything it started is
 * ended with it. Children it left in the background neither delay the return nor end with it.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const child = await startProcess(options);
  const reader = new OutputReader(child, options.onOutput);
  const cause = await waitForEnd(child, options);
  try {
    if (cause !== "exit" && !(await endWithPatience(endChild(child, options), cause))) {
      return {
        cause,
        exitCode: null,
        signal: null,
        survivors: true,
        hasBegun: child.hasBegun(),
        gone: child.gone,
      };
    }
    const exit = await child.exited;
    const isClosed = await reader.settle();
    const survivors = cause === "exit" && child.hasSurvivors(isClosed);
    return { cause, ...exit, survivors, hasBegun: child.hasBegun(), gone: child.gone };
  } finally {
    reader.release();
  }
}

async function endChild(child: ChildProcess, { endSession }: CommandOptions): Promise<boolean> {
  const hasEnded = await child.end();
  if (hasEnded || endSession === undefined) return hasEnded;
  await endSession("a command could not be ended without them");
  return true;
}

async function endWithPatience(ending: Promise<boolean>, cause: CommandEnd["cause"]): Promise<boolean> {
  if (cause !== "abort") return ending;
  const done = new AbortController();
  const ended = await Promise.race([ending, sleep(ABORT_PATIENCE_MS, done.signal).then(() => false)]);
  done.abort();
  return ended;
}

function waitForEnd(
  child: ChildProcess,
  { timeoutMs, signal }: CommandOptions,
): Promise<CommandEnd["cause"]> {
  return new Promise((resolve) => {
    const finish = (cause: CommandEnd["cause"]) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(cause);
    };
    const onAbort = () => finish("abort");
    const timer = setTimeout(() => finish("timeout"), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    child.exited.then(() => finish("exit"));
    if (signal.aborted) onAbort();
  });
}
