import { sleep } from "../runtime.ts";
import { OutputReader } from "./output-reader.ts";
import { type ChildProcess, type ProcessExit, type ProcessOptions, startProcess } from "./process.ts";

/** A program with its time limit and signal. */
interface CommandOptions extends ProcessOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** When aborted, the command is left running, and `CommandEnd.rest` is it. */
  leave?: AbortSignal | undefined;
  /** True: at its time limit it is left running, too. */
  outlivesTimeout?: boolean | undefined;
  /** Called with stdout and stderr as they come, until `CommandRest.release`. */
  onOutput(chunk: Uint8Array): void;
  /** Called when the processes could not be ended one by one; see `WrappedCommand`. */
  endSession?: ((reason: string) => Promise<void>) | undefined;
}

/** How a command ended; processes that it left running may outlive this. */
export interface CommandEnd extends ProcessExit {
  /** What ended it: itself, the time limit, or the signal; or it was left running. */
  cause: "exit" | "timeout" | "abort" | "leave";
  /** True when something of it still runs: in the background, or because it could not be ended. */
  survivors: boolean;
  /** False where a program that reports what it does did not get that far; see `ProcessOptions.report`. */
  hasBegun: boolean;
  /** True if it was left running since its time was over. */
  isLate?: boolean;
  /** True if all processes of the session had to be ended with it. */
  hasEndedSession?: boolean;
  /** Resolves when nothing of it runs any more, as far as that can be seen. */
  gone: Promise<unknown>;
  /** What runs on after an exit, or because it was left running. The caller releases or ends it. */
  rest?: CommandRest | undefined;
}

/** A command that runs in the background, or what one has left there. */
export interface CommandRest {
  /** How the command itself ends, which what it left running may outlive. */
  exited: Promise<ProcessExit>;
  /** Resolves when nothing of it runs any more and all its output was read. */
  ended: Promise<void>;
  /** Ends all of it; false when something could not be ended. */
  end(): Promise<boolean>;
  /** Processor time of what runs of it now. */
  cpuTimeMs(): number;
  /** Reads and drops its output from now on. */
  release(): void;
}

// After an interrupt somebody waits for the prompt: what ignores TERM is killed behind the returned result.
const ABORT_PATIENCE_MS = 600;
// What was written before the end is read by then, unless a process that cannot be seen still holds the output open.
const LAST_OUTPUT_MS = 1_000;

/**
 * Runs a program until it ends, its time is over, it is interrupted or it is to be left running; by a time limit or an
 * interrupt everything it started is ended with it. Children it left in the background neither delay the return nor end
 * with it.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const child = await startProcess(options);
  const reader = new OutputReader(child, options.onOutput);
  const { gone } = child;
  const cause = await waitForEnd(child, options);
  const toEnd = (end: Pick<CommandEnd, "survivors"> & Partial<CommandEnd>): CommandEnd => {
    if (end.rest === undefined) reader.release();
    return { cause, exitCode: null, signal: null, hasBegun: child.hasBegun(), gone, ...end };
  };
  if (cause === "leave") {
    const rest = toRest(child, reader, options);
    return toEnd({ survivors: true, rest, isLate: options.leave?.aborted !== true });
  }
  if (cause === "exit") {
    const exit = await child.exited;
    const isClosed = await reader.settle();
    const survivors = child.hasSurvivors(isClosed);
    return toEnd({ ...exit, survivors, rest: survivors ? toRest(child, reader, options) : undefined });
  }
  const ending = await endWithPatience(endChild(child, options), cause);
  if (ending === "stuck") return toEnd({ survivors: true });
  const exit = await child.exited;
  await reader.settle();
  return toEnd({ ...exit, survivors: false, ...(ending === "with_session" && { hasEndedSession: true }) });
}

function toRest(child: ChildProcess, reader: OutputReader, options: CommandOptions): CommandRest {
  reader.slowDown();
  const ended = child.gone.then(async () => {
    const done = new AbortController();
    await Promise.race([reader.finished, sleep(LAST_OUTPUT_MS, done.signal)]);
    done.abort();
    reader.release();
  });
  return {
    exited: child.exited,
    ended,
    end: async () => (await endChild(child, options)) !== "stuck",
    cpuTimeMs: () => child.cpuTimeMs(),
    release: () => reader.release(),
  };
}

type Ending = "ended" | "with_session" | "stuck";

async function endChild(child: ChildProcess, { endSession }: CommandOptions): Promise<Ending> {
  if (await child.end()) return "ended";
  if (endSession === undefined) return "stuck";
  await endSession("a command could not be ended without them");
  return "with_session";
}

async function endWithPatience(ending: Promise<Ending>, cause: CommandEnd["cause"]): Promise<Ending> {
  if (cause !== "abort") return ending;
  const done = new AbortController();
  const late = sleep(ABORT_PATIENCE_MS, done.signal).then((): Ending => "stuck");
  const ended = await Promise.race([ending, late]);
  done.abort();
  return ended;
}

function waitForEnd(
  child: ChildProcess,
  { timeoutMs, signal, leave, outlivesTimeout }: CommandOptions,
): Promise<CommandEnd["cause"]> {
  return new Promise((resolve) => {
    const finish = (cause: CommandEnd["cause"]) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      leave?.removeEventListener("abort", onLeave);
      resolve(cause);
    };
    const onAbort = () => finish("abort");
    const onLeave = () => finish("leave");
    const timer = setTimeout(() => finish(outlivesTimeout ? "leave" : "timeout"), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    leave?.addEventListener("abort", onLeave, { once: true });
    child.exited.then(() => finish("exit"));
    if (signal.aborted) onAbort();
    else if (leave?.aborted) onLeave();
  });
}
