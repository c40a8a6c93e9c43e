import { fstatSync, readFileSync, write } from "node:fs";
import { SIGNAL_EXIT_CODES } from "../errors.ts";
import type { TerminalPort } from "../tui/screen/terminal.ts";
import type { CliInput, CliIo, CliOutput, SignalName } from "./io.ts";
import { readTyped } from "./typed-input.ts";

const SIGNALS_OF_NOHUP: readonly SignalName[] = ["SIGINT", "SIGQUIT", "SIGTERM"];
const SIGNALS: readonly SignalName[] = [...SIGNALS_OF_NOHUP, "SIGHUP"];
// Children that ignore the request to end are killed when the process exits.
const CLEAN_UP_MS = 500;
const BUSY_MS = 5;
// Where the terminal cannot be asked, what was typed before is read within this time.
const TYPED_BEFORE_MS = 60;
const SIGHUP_BIT = 1n;
// Major numbers of Linux devices: /dev/null and the like, and the pseudo-terminals that terminal programs open.
const MEMORY_DEVICES = 1;
const FIRST_PTY = 136;
const LAST_PTY = 143;
// A pipe without a reader, a closed descriptor, a terminal that went away.
const READER_GONE: ReadonlySet<string> = new Set(["EPIPE", "EBADF", "EIO", "ECONNRESET"]);

/** The real process as `CliIo`, with operations for its owner only. */
interface ProcessIo extends CliIo {
  /** Cleans up, waits until everything is written, and ends the process. */
  leave(code: number): Promise<void>;
}

/** Call once: it takes over the process's signals. */
export function createProcessIo(): ProcessIo {
  const stdout = new DescriptorOutput(1);
  const stderr = new DescriptorOutput(2);
  const cleanUps: (() => Promise<void> | void)[] = [];
  const lastCleanUps = new Set<() => void>();
  const listeners = new Set<(signal: SignalName) => void>();
  const exit = (code: number) => {
    // Registered after the listener that kills children, since it cleans up after them.
    for (const each of lastCleanUps) process.on("exit", each);
    process.exit(code);
  };
  const notify = (signal: SignalName) => {
    if (listeners.size === 0) exit(SIGNAL_EXIT_CODES[signal]);
    for (const listener of [...listeners]) listener(signal);
  };
  const handled = isHangupIgnored() ? SIGNALS_OF_NOHUP : SIGNALS;
  for (const signal of handled) process.on(signal, () => notify(signal));
  let isParentWatched = !handled.includes("SIGHUP");
  return {
    stdin: createInput(),
    stdout,
    stderr,
    cwd: currentDirectory(),
    environment: process.env,
    platform: process.platform,
    onSignal(listener) {
      listeners.add(listener);
      if (!isParentWatched) watchParent({ hasKeyboard: isTerminal(0) }, () => notify("SIGHUP"));
      isParentWatched = true;
      return () => listeners.delete(listener);
    },
    onExit: (each) => void cleanUps.push(each),
    onAnyExit(cleanUp) {
      lastCleanUps.add(cleanUp);
      return () => lastCleanUps.delete(cleanUp);
    },
    openTerminal: async () => ({ terminal: new ProcessTerminalPort(), host: process, readSize }),
    exit,
    async leave(code) {
      const cleanUp = Promise.allSettled(cleanUps.map(async (each) => each()));
      await Promise.all([settleWithin(CLEAN_UP_MS, cleanUp), stdout.flush(), stderr.flush()]);
      exit(code);
    },
  };
}

/** The terminal that the process runs in. */
class ProcessTerminalPort implements TerminalPort {
  private wasRaw = false;
  private onInput: ((data: string) => void) | undefined;
  private onResize: (() => void) | undefined;

  get columns(): number {
    return process.stdout.columns || 80;
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const { stdin, stdout } = process;
    this.wasRaw = stdin.isRaw === true;
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.setEncoding("utf8");
    this.onInput = onInput;
    this.onResize = onResize;
    stdin.on("data", onInput);
    stdout.on("resize", onResize);
    stdin.resume();
    refreshSize();
  }

  stop(): void {
    const { stdin, stdout } = process;
    if (this.onInput) stdin.off("data", this.onInput);
    if (this.onResize) stdout.off("resize", this.onResize);
    // Further input is for the program that has the terminal next.
    stdin.pause();
    if (stdin.isTTY) stdin.setRawMode(this.wasRaw);
  }

  write(data: string): void {
    process.stdout.write(data);
  }

  async deliverTyped(): Promise<void> {
    // What the stream has read already is delivered before.
    await new Promise(setImmediate);
    const typed = readTyped(0);
    await (typed === undefined ? Bun.sleep(TYPED_BEFORE_MS) : new Promise(setImmediate));
    if (typed) this.onInput?.(typed);
  }
}

/** The size may have changed while the process was stopped, without a signal. */
function refreshSize(): void {
  try {
    process.kill(process.pid, "SIGWINCH");
  } catch {
    // Some sandboxes forbid signals. The size is then updated with its next change.
  }
}

/** The size is from the last signal; later changes are only known after a query. */
function readSize(): void {
  const { stdout } = process;
  // Exists in Node but not in its types; without it the signal arrives some milliseconds later.
  if ("_refreshSize" in stdout && typeof stdout._refreshSize === "function") stdout._refreshSize();
}

/**
 * Writes to a file descriptor in the background and batches what has gathered meanwhile: a slow reader never blocks the
 * program, and many small texts cost few writes.
 */
class DescriptorOutput implements CliOutput {
  private readonly closing = new AbortController();
  private problem: Error | undefined;
  private pending = "";
  private idle: Promise<void> | undefined;

  constructor(private readonly descriptor: number) {}

  get isTerminal(): boolean {
    return isTerminal(this.descriptor);
  }

  get columns(): number | undefined {
    return this.isTerminal ? process.stdout.columns : undefined;
  }

  get closed(): AbortSignal {
    return this.closing.signal;
  }

  get failure(): Error | undefined {
    return this.problem;
  }

  write(text: string): void {
    if (this.closed.aborted) return;
    this.pending += text;
    this.idle ??= this.drain();
  }

  async flush(): Promise<void> {
    await this.idle;
  }

  private close(error: NodeJS.ErrnoException): void {
    if (!READER_GONE.has(error.code ?? "")) this.problem = error;
    this.closing.abort();
  }

  private async drain(): Promise<void> {
    await new Promise(setImmediate);
    while (this.pending !== "" && !this.closed.aborted) {
      const bytes = Buffer.from(this.pending);
      this.pending = "";
      await this.writeBytes(bytes);
    }
    this.idle = undefined;
  }

  private async writeBytes(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length && !this.closed.aborted; ) {
      const written = await writeSome(this.descriptor, bytes.subarray(offset));
      if (typeof written === "number") offset += written;
      // Someone else made this descriptor non-blocking, and its reader is slow.
      else if (written.code === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
      else this.close(written);
    }
  }
}

/** The number of bytes written, or why none were. */
function writeSome(descriptor: number, bytes: Uint8Array): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => write(descriptor, bytes, (error, written) => resolve(error ?? written)));
}

/** True under `nohup`, which a handler of ours would undo. Detected on Linux only. */
function isHangupIgnored(): boolean {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return (BigInt(`0x${mask}`) & SIGHUP_BIT) !== 0n;
  } catch {
    // Other systems have no such file.
    return false;
  }
}

/** The device number makes it unnecessary to load node:tty, which takes longer than all of `--help`. */
function isTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isCharacterDevice()) return false;
    const major = process.platform === "linux" ? stats.rdev >> 8 : undefined;
    if (major === MEMORY_DEVICES) return false;
    if (major !== undefined && major >= FIRST_PTY && major <= LAST_PTY) return true;
  } catch {
    // Closed by the parent process.
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

function createInput(): CliInput {
  return { isTerminal: isTerminal(0), stream: () => Bun.stdin.stream(), hide: hideInput };
}

function hideInput(): () => void {
  const { stdin } = process;
  stdin.setRawMode(true);
  let isHidden = true;
  const show = () => {
    if (isHidden) stdin.setRawMode(false);
    isHidden = false;
  };
  // Otherwise a shell would not echo what is typed afterwards.
  process.on("exit", show);
  return () => {
    process.off("exit", show);
    show();
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    // The directory was removed: the run will look for its last name and report that it is gone.
    return process.env.PWD ?? "";
  }
}

function settleWithin(durationMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// An orphan must be gone within two seconds, and the timers of an idle screen must fire at most once a second in total.
const POLL_MS = 1_800;
const STDOUT = 1;

/** The process it works with. */
interface ParentWatchOptions {
  /** Its input is a terminal: a shell without job control gives background jobs none. */
  hasKeyboard: boolean;
}

/**
 * Calls back, once, when the parent process has died and nobody is left to work for: the terminal then belongs to
 * someone else, or the output has no reader. No signal reports that unless the terminal goes too. Background jobs and
 * jobs that write to a file continue. Without `/proc`, nothing is detected.
 */
function watchParent({ hasKeyboard }: ParentWatchOptions, onLeftBehind: () => void): void {
  const parent = process.ppid;
  let hadTerminal = hasKeyboard && isInForeground();
  const timer = setInterval(async () => {
    if (process.ppid === parent) hadTerminal = hasKeyboard && isInForeground();
    else if (hadTerminal || (await hasLostOutput())) {
      clearInterval(timer);
      onLeftBehind();
    }
  }, POLL_MS);
  timer.unref();
}

/** True if the terminal's keys go to this process and its children. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The name, in parentheses, may contain anything.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    // Other systems have no such file.
    return false;
  }
}

/** Loaded only once the parent has ended, which is rare. */
async function hasLostOutput(): Promise<boolean> {
  const { hasLostReader } = await import("@diligent/core/run");
  return await hasLostReader(STDOUT);
}
