import { readdirSync, readFileSync, realpathSync } from "node:fs";

/** A program to start, wait for and time. */
export interface TimedProgram {
  argv: readonly string[];
  cwd: string;
  /** Its complete environment: nothing of this process's own is added. */
  environment: Readonly<Record<string, string>>;
  /** Default: one minute. */
  timeLimitMs?: number;
  /** The exit codes of a success; only 0 by default. */
  exitCodes?: readonly number[];
  /** Called as soon as it runs. */
  onStart?(pid: number): void;
}

/** The cost of a run, and its output. */
export interface ProcessRun {
  /** The start time, by `performance.now()`. */
  startedAt: number;
  /** From the start until its end was noticed. */
  wallMs: number;
  /** User and system time of the process and of all children that it waited for. */
  cpuMs: number;
  stdout: string;
}

const TIME_LIMIT_MS = 60_000;
// After TERM, a program may end its own children; if it ignores TERM, it is killed.
const KILL_AFTER_MS = 3_000;
const SHOWN_CHARS = 2_000;

/**
 * Runs a program to its end, with an empty stdin.
 * @throws if it does not succeed, or exceeds its time limit.
 */
export async function runProcess({ argv, cwd, environment, ...options }: TimedProgram): Promise<ProcessRun> {
  const startedAt = performance.now();
  const child = Bun.spawn([...argv], {
    cwd,
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const unwatch = watchGroup(child.pid);
  options.onStart?.(child.pid);
  const timer = endAfter(child, options.timeLimitMs ?? TIME_LIMIT_MS);
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  try {
    await child.exited;
    const wallMs = performance.now() - startedAt;
    const [stdout, stderr] = await output;
    assertSuccess(argv, child, { stderr, exitCodes: options.exitCodes ?? [0] });
    return { startedAt, wallMs, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000, stdout };
  } finally {
    timer.stop();
    unwatch();
  }
}

function endAfter({ pid }: Bun.Subprocess, timeLimitMs: number): { stop(): void } {
  const term = setTimeout(() => signalGroup(pid, "SIGTERM"), timeLimitMs);
  const kill = setTimeout(() => signalGroup(pid, "SIGKILL"), timeLimitMs + KILL_AFTER_MS);
  return {
    stop() {
      clearTimeout(term);
      clearTimeout(kill);
    },
  };
}

function assertSuccess(
  argv: readonly string[],
  { exitCode, signalCode }: Bun.Subprocess,
  { stderr, exitCodes }: { stderr: string; exitCodes: readonly number[] },
): void {
  if (exitCode !== null && exitCodes.includes(exitCode)) return;
  const end = signalCode === null ? `exit code ${exitCode}` : signalCode;
  throw new Error(`${argv.join(" ")} ended with ${end}:\n${stderr.slice(-SHOWN_CHARS).trim()}`);
}

// Linux counts in hundredths of a second for every program, whatever its clock does.
const TICKS_PER_SECOND = 100;

/** User and system time of a living process, without its children, in seconds. */
export function readCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, in parentheses, may contain anything; the fields after it are counted from the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number);
  if (user === undefined || system === undefined) throw new Error(`/proc/${pid}/stat has no times.`);
  return (user + system) / TICKS_PER_SECOND;
}

/** Resident memory of a living process, in MB of 1,048,576 bytes: now, and the peak so far. */
export function readMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return { now: readNumber(status, "VmRSS") / 1024, peak: readNumber(status, "VmHWM") / 1024 };
}

/** How often the main thread of a living process, which runs its timers, has gone to sleep so far. */
export function readSleeps(pid: number): number {
  return readNumber(readFileSync(`/proc/${pid}/task/${pid}/status`, "latin1"), "voluntary_ctxt_switches");
}

/** How many files, pipes and sockets a living process has open. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** How many child processes a process has, including ended ones that it has not waited for. */
export function countChildren(pid: number): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && readParent(name) === pid).length;
}

function readParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // It has just ended.
  }
}

function readNumber(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1];
  if (found === undefined) throw new Error(`This system has no ${name} (/proc).`);
  return Number(found);
}

const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) signalGroup(pid, "SIGKILL");
});

/** Kills the process's group when this process exits, until the returned function is called. */
export function watchGroup(pid: number): () => void {
  running.add(pid);
  return () => void running.delete(pid);
}

/** @param pid the leader of a process group. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile, as intended.
  }
}

// The kernel itself records the peak, so only growth in the last moments can be missed.
const INTERVAL_MS = 2;

/** The peak resident memory of a process so far, in MB of 1,048,576 bytes. */
export interface PeakMemory {
  readonly megabytes: number;
  stop(): void;
}

/**
 * Watches the peak of a living process. `wait4`, which `resourceUsage()` uses, does not help: on Linux its
 * figure starts at the size of the parent process.
 */
export function watchPeakMemory(pid: number): PeakMemory {
  let kilobytes = 0;
  const look = () => {
    kilobytes = Math.max(kilobytes, readPeakKilobytes(pid));
  };
  const timer = setInterval(look, INTERVAL_MS);
  return {
    get megabytes() {
      return kilobytes / 1024;
    },
    stop: () => clearInterval(timer),
  };
}

function readPeakKilobytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
  } catch {
    // It has ended since the last sample.
    return 0;
  }
}

/** A command as it was started. */
export interface SpawnedCommand {
  argv: readonly string[];
  /**
   * Its real working directory: a path through one of our open directories is only valid while that is open.
   */
  cwd: string;
  environment: Readonly<Record<string, string>>;
}

/**
 * Runs some work and returns the commands that this process started for it with `Bun.spawn(argv, options)`.
 */
export async function recordSpawns(work: () => Promise<unknown>): Promise<SpawnedCommand[]> {
  const commands: SpawnedCommand[] = [];
  const original = Bun.spawn;
  const recording = new Proxy(original, {
    apply(target, self, args: unknown[]) {
      const command = toCommand(args);
      if (command) commands.push(command);
      return Reflect.apply(target, self, args);
    },
  });
  Reflect.set(Bun, "spawn", recording);
  try {
    await work();
  } finally {
    Reflect.set(Bun, "spawn", original);
  }
  return commands;
}

function toCommand([argv, options]: readonly unknown[]): SpawnedCommand | undefined {
  if (!Array.isArray(argv) || typeof options !== "object" || options === null) return undefined;
  const cwd = "cwd" in options && typeof options.cwd === "string" ? options.cwd : process.cwd();
  const env = "env" in options && typeof options.env === "object" && options.env ? options.env : process.env;
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (typeof value === "string") environment[name] = value;
  return { argv: argv.map(String), cwd: realpathSync(cwd), environment };
}
