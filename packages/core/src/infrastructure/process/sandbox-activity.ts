import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { namesIn } from "../fs/seen-file.ts";
import { toSystemPath } from "../fs/stat.ts";
import { monotonicMs, now } from "../runtime.ts";

const SAMPLE_EVERY_MS = 25;
// While everything sleeps, the time between two samples does not matter as long as nobody waits for a command.
const LONGEST_PAUSE_MS = 1_000;
// A sample of a build with hundreds of processes is not to take more than a twentieth of the time.
const PAUSE_PER_COST = 20;

// The kernel's clock for files is behind by that much at most.
const TICK_MS = 12;

// Commands that wake up all the time make many.
const MAX_SPANS = 2_000;

// Of what is new; a repository that somebody has just made holds thousands of files.
const MAX_ENTRIES = 5_000;

// Somebody who makes one of a few files a day by hand does not hit just these two seconds of two minutes.
const MAX_CHANCE_SECONDS = 2;
const AROUND_SECONDS = 60;
const MAX_SECONDS_KEPT = 3_600;

interface Span {
  fromMs: number;
  toMs: number;
}

/** The processes in other process namespaces that this one has started, at one moment. */
export interface SandboxSample {
  /** The same again only where none of them ran, started or ended in between; undefined where one runs just now. */
  state: string | undefined;
  /** For how long they have computed so far, those that have ended included as long as a parent of theirs is there. */
  seconds: number;
}

/**
 * Knows when sandboxed processes were at work, by the kernel's counters. What was created while all of them slept certainly
 * does not come from a command. Linux only: elsewhere everything may.
 */
export class SandboxActivity {
  /** When all sandboxed processes slept. */
  private readonly asleep: Span[] = [];
  /** When there were none: from the beginning of time to the first command, and between commands. */
  private readonly idle: Span[] = [];
  private idleSinceMs: number | undefined = Number.NEGATIVE_INFINITY;
  private last: { state: string; span: Span } | undefined;
  private lastSeconds = 0;
  /** For how long was computed in each second since the epoch. */
  private readonly work = new Map<number, number>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly readSample: () => SandboxSample = readSandboxSample) {}

  /** Takes samples until `stop`. @param isAwaited false where only something in the background runs. */
  watch(isAwaited = true): void {
    if (this.idleSinceMs !== undefined) this.idle.push({ fromMs: this.idleSinceMs, toMs: now() });
    this.idleSinceMs = undefined;
    this.wait(SAMPLE_EVERY_MS, isAwaited ? SAMPLE_EVERY_MS : LONGEST_PAUSE_MS);
  }

  /** All commands have ended, and no process of them runs any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.last = undefined;
    this.idleSinceMs ??= now();
  }

  /** To be called before something is asked about this moment. @returns true where all slept since the last time. */
  sample(): boolean {
    const beganAtMs = now();
    const { state, seconds } = this.readSample();
    this.addWork(beganAtMs, seconds);
    const isAsleep = state !== undefined && state === this.last?.state;
    if (isAsleep && this.last) this.last.span.toMs = beganAtMs;
    if (isAsleep) return true;
    const fromMs = now();
    this.last = state === undefined ? undefined : { state, span: { fromMs, toMs: fromMs } };
    if (this.last) this.asleep.push(this.last.span);
    if (this.asleep.length > MAX_SPANS) this.asleep.shift();
    return false;
  }

  /** The outermost parts of something new that a command may have created. */
  findSuspects(path: string): string[] {
    return this.search(path, { left: MAX_ENTRIES }).suspects;
  }

  /** True where commands computed so much around the time of a change that somebody else may have made it by chance. */
  wasBusyAround(path: string): boolean {
    const second = Math.floor((readTimes(path)?.changedMs ?? now()) / 1000);
    let seconds = 0;
    for (let at = second - AROUND_SECONDS; at <= second + AROUND_SECONDS; at += 1)
      seconds += this.work.get(at) ?? 0;
    return seconds > MAX_CHANCE_SECONDS;
  }

  private addWork(atMs: number, seconds: number): void {
    const second = Math.floor(atMs / 1000);
    // With a command, the time goes that it took.
    const more = Math.max(0, seconds - this.lastSeconds);
    this.lastSeconds = seconds;
    if (more > 0) this.work.set(second, (this.work.get(second) ?? 0) + more);
    for (const first of this.work.keys()) if (first < second - MAX_SECONDS_KEPT) this.work.delete(first);
  }

  private search(path: string, entries: { left: number }): { suspects: string[]; hasOthers: boolean } {
    const whole = { suspects: [path], hasOthers: false };
    entries.left -= 1;
    const times = entries.left < 0 ? undefined : readTimes(path);
    if (times === undefined) return whole;
    const isBornQuietly = isIn(this.asleep, times.bornMs) || isIn(this.idle, times.bornMs);
    // What lay elsewhere before the commands may have been moved here by them, with a directory around it.
    const isOutside = isBornQuietly && isIn(this.asleep, times.changedMs);
    if (!times.isDirectory) return isOutside ? { suspects: [], hasOthers: true } : whole;
    const isKept = isOutside || isIn(this.asleep, times.bornMs);
    const inner = (namesIn(path) ?? []).map((name) => this.search(`${path}/${name}`, entries));
    const hasOthers = inner.some((each) => each.hasOthers) || (isKept && inner.length === 0);
    return hasOthers || isKept ? { suspects: inner.flatMap(({ suspects }) => suspects), hasOthers } : whole;
  }

  private wait(pauseMs: number, longestMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const beganAtMs = monotonicMs();
      const nextMs = this.sample() ? Math.min(2 * pauseMs, longestMs) : SAMPLE_EVERY_MS;
      this.wait(Math.max(nextMs, (monotonicMs() - beganAtMs) * PAUSE_PER_COST), longestMs);
    }, pauseMs).unref();
  }
}

function isIn(spans: readonly Span[], atMs: number): boolean {
  return spans.some(({ fromMs, toMs }) => atMs >= fromMs && atMs + TICK_MS <= toMs);
}

function readTimes(path: string): { bornMs: number; changedMs: number; isDirectory: boolean } | undefined {
  try {
    const stats = lstatSync(toSystemPath(path));
    return { bornMs: stats.birthtimeMs, changedMs: stats.ctimeMs, isDirectory: stats.isDirectory() };
  } catch {
    return undefined; // Gone by now.
  }
}

const RUNNING = /^State:\tR/m;
const SWITCHES = /^(?:non)?voluntary_ctxt_switches:.*$/gm;

// From sched.h of Linux on x86-64 and arm64.
const TICKS_PER_SECOND = 100;

/** From proc(5): a thread that has run was put to sleep once more. */
function readSandboxSample(): SandboxSample {
  const home = readNamespace("self");
  const own = listChildren("self");
  if (home === undefined || own === undefined) return { state: undefined, seconds: 0 };
  // A whole command may live between two samples, and leaves nothing but a trace in this process.
  const parts = [own.join(" "), readEndedChildren()];
  let [ticks, isRunning] = [0, false];
  const waiting = [...own];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    waiting.push(...(listChildren(pid) ?? []));
    // One that has ended, or hides what it is, counts as sandboxed.
    if (readNamespace(pid) === home) continue;
    // The user's and the system's time of itself and of the children that it has waited for.
    const times = readStat(pid).slice(11, 15).map(Number);
    for (const time of times) ticks += time || 0;
    for (const thread of listThreads(pid)) {
      const status = readQuietly(`/proc/${pid}/task/${thread}/status`) ?? "";
      const switches = status.match(SWITCHES);
      isRunning ||= RUNNING.test(status) || (switches === null && status !== "");
      parts.push(`${pid} ${thread} ${switches?.join(" ") ?? ""}`);
    }
  }
  return { state: isRunning ? undefined : parts.join("\n"), seconds: ticks / TICKS_PER_SECOND };
}

/** The fields of a process behind its name in parentheses, which may hold anything. */
function readStat(pid: string): string[] {
  const stat = readQuietly(`/proc/${pid}/stat`) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** The page faults of all processes that this one has started and waited for: each that ends adds some. */
function readEndedChildren(): string {
  const fields = readStat("self");
  return `${fields[8]} ${fields[10]}`;
}

function readNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

/** Undefined on a kernel that does not list them; none where the process has ended. */
function listChildren(pid: string): string[] | undefined {
  const threads = listThreads(pid);
  const lists = threads.flatMap((thread) => readQuietly(`/proc/${pid}/task/${thread}/children`) ?? []);
  if (lists.length === 0 && pid === "self") return undefined;
  return lists.flatMap((list) => list.split(" ").filter(Boolean));
}

function listThreads(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It has ended.
  }
}

function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // It has ended.
  }
}
