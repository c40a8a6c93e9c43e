import { signalGroup, watchGroup } from "./process-groups.ts";

/** A program that is started, waited for and timed. */
export interface ProcessOptions {
  argv: readonly string[];
  cwd: string;
  /** All of it: nothing of this process's own is added. */
  environment: Readonly<Record<string, string>>;
  /** One minute when left out. */
  timeLimitMs?: number;
  /** Called as soon as it runs. */
  onStart?(pid: number): void;
}

/** What a run took, and what it printed. */
export interface ProcessRun {
  /** When it was started, by `performance.now()`. */
  startedAt: number;
  /** From the start until its end was seen. */
  wallMs: number;
  /** User and system time of it and of all it waited for. */
  cpuMs: number;
  stdout: string;
}

const TIME_LIMIT_MS = 60_000;
// After TERM a program may end its own children; what ignores it is killed.
const KILL_AFTER_MS = 3_000;
const SHOWN_CHARS = 2_000;

/**
 * Runs a program to its end, with an empty stdin.
 * @throws when it ends in anything but success, or takes longer than its time limit.
 */
export async function runProcess({
  argv,
  cwd,
  environment,
  ...options
}: ProcessOptions): Promise<ProcessRun> {
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
    assertSuccess(argv, child, stderr);
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
  stderr: string,
): void {
  if (exitCode === 0) return;
  const end = signalCode === null ? `exit code ${exitCode}` : signalCode;
  throw new Error(`${argv.join(" ")} ended with ${end}:\n${stderr.slice(-SHOWN_CHARS).trim()}`);
}
