import { sleep } from "../runtime.ts";
import { OutputReader } from "./output-reader.ts";
import { type ChildProcess, type ProcessExit, type ProcessOptions, startProcess } from "./process.ts";

/** A program with its time limit and signal. */
interface CommandOptions extends ProcessOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Called with stdout and stderr as they arrive, until the command has ended. */
  onOutput(chunk: Uint8Array): void;
  /** Called when the processes could not be ended one by one; see `WrappedCommand`. */
  endSession?: ((reason: string) => Promise<void>) | undefined;
}

/** How a command ended; processes that it left running may outlive this. */
export interface CommandEnd extends ProcessExit {
  /** The reason for its end: its own exit, the time limit, or the signal. */
  cause: "exit" | "timeout" | "abort";
  /** True when some of its processes still run: in the background after an exit, or because they could not be ended. */
  survivors: boolean;
  /** False for a reporting program that has not started its command; see `ProcessOptions.report`. */
  hasBegun: boolean;
  /** Resolves when none of its processes runs any more. */
  gone: Promise<unknown>;
}

// After an interrupt the user waits for the prompt: processes that ignore TERM are killed after the result is returned.
const ABORT_GRACE_MS = 600;

/**
 * Runs a program until it ends, its time limit is reached or it is interrupted; in the last two cases all its
 * descendants are ended with it. Background children neither delay the return nor end with it.
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
  const ended = await Promise.race([ending, sleep(ABORT_GRACE_MS, done.signal).then(() => false)]);
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
