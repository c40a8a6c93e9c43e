import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { monotonicMs, now } from "../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import { readSystemEntries } from "./directory.ts";

const SAMPLE_EVERY_MS = 25;
// A sample of a build with hundreds of processes is not to take more than a twentieth of the time.
const PAUSE_PER_COST = 20;

// The kernel's clock for files is behind by that much at most.
const TICK_MS = 12;

// What bubblewrap started ends a moment after bubblewrap itself when that is killed, and is nobody's child meanwhile; on
// a busy machine it waits for its turn first.
const EXIT_GRACE_MS = 250;

// Commands that wake up all the time make many; what was made longer ago has been looked at.
const MAX_SPANS = 2_000;

// Of what is new; a repository that somebody has just made holds thousands of files.
const MAX_ENTRIES = 5_000;

interface Span {
  fromMs: number;
  toMs: number;
}

/**
 * Records when no command was running: no process started by this one ran for a moment, by the kernel's counters.
 * Files created then certainly do not come from a command.
 */
export class QuietTimes {
  private readonly spans: Span[] = [];
  private sinceMs: number | undefined;
  private last: { state: string; ended: string; atMs: number } | undefined;
  private emptySinceMs: number | undefined;
  private lastEnded: string | undefined;
  private lastEndedAtMs: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private entriesLeft = MAX_ENTRIES;

  /**
   * @param readState how far the processes have come; undefined where one runs just now or nobody can tell.
   * @param readEnded changes with each process that has ended; undefined where nobody can tell.
   */
  constructor(
    private readonly readState: () => string | undefined = readProcessState,
    private readonly readEnded: () => string | undefined = readEndedProcesses,
  ) {}

  /** Looks again and again until `stop`. */
  watch(): void {
    if (this.timer !== undefined) return;
    this.sinceMs ??= now();
    this.tick();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sample();
    this.last = undefined;
  }

  /** To be called before something is asked about this moment. */
  sample(): void {
    const beganAtMs = now();
    const state = this.readState();
    const ended = this.readEnded();
    this.emptySinceMs = state === "" ? (this.emptySinceMs ?? now()) : undefined;
    if (this.lastEnded !== undefined && ended !== this.lastEnded) this.lastEndedAtMs = now();
    this.lastEnded = ended ?? this.lastEnded;
    const isEnding = [this.emptySinceMs, this.lastEndedAtMs].some(
      (atMs) => atMs !== undefined && beganAtMs - atMs <= EXIT_GRACE_MS,
    );
    if (state === undefined || ended === undefined || isEnding) {
      this.last = undefined;
      return;
    }
    // A process that lived only between two samples left the state as it was: on a busy machine a whole command does.
    const isSame = this.last?.state === state && this.last.ended === ended;
    if (this.last && isSame) this.add({ fromMs: this.last.atMs, toMs: beganAtMs });
    else this.last = { state, ended, atMs: now() };
  }

  /** The outermost paths at a location that a command may have created. */
  findSuspects(path: string): string[] {
    this.entriesLeft = MAX_ENTRIES;
    return this.search(path).suspects;
  }

  private search(path: string): { suspects: string[]; hasOthers: boolean } {
    const whole = { suspects: [path], hasOthers: false };
    this.entriesLeft -= 1;
    if (this.entriesLeft < 0) return whole;
    const made = this.findMaking(path);
    if (made === undefined) return whole;
    if (!made.isDirectory) return made.isQuiet ? { suspects: [], hasOthers: true } : whole;
    const inner = namesIn(path).map((name) => this.search(`${path}/${name}`));
    const hasOthers = inner.some((each) => each.hasOthers) || (made.isBornQuiet && inner.length === 0);
    return hasOthers || made.isBornQuiet
      ? { suspects: inner.flatMap(({ suspects }) => suspects), hasOthers }
      : whole;
  }

  private findMaking(path: string) {
    try {
      const stats = lstatSync(toSystemPath(path));
      const isBornQuiet =
        (this.sinceMs !== undefined && stats.birthtimeMs < this.sinceMs) || this.isQuiet(stats.birthtimeMs);
      const isQuiet = isBornQuiet && this.isQuiet(stats.ctimeMs);
      // A directory that was moved here was born long before.
      const isMadeQuietly = isQuiet || this.isQuiet(stats.birthtimeMs);
      return { isDirectory: stats.isDirectory(), isQuiet, isBornQuiet: isMadeQuietly };
    } catch {
      return undefined; // Gone meanwhile.
    }
  }

  private isQuiet(atMs: number): boolean {
    return this.spans.some(({ fromMs, toMs }) => atMs >= fromMs && atMs + TICK_MS <= toMs);
  }

  private add(span: Span): void {
    const last = this.spans.at(-1);
    if (last?.fromMs === span.fromMs) last.toMs = span.toMs;
    else this.spans.push(span);
    if (this.spans.length > MAX_SPANS) this.spans.splice(0, this.spans.length - MAX_SPANS);
  }

  private tick(): void {
    const beganAtMs = monotonicMs();
    this.sample();
    const costMs = monotonicMs() - beganAtMs;
    this.timer = setTimeout(() => this.tick(), Math.max(SAMPLE_EVERY_MS, costMs * PAUSE_PER_COST)).unref();
  }
}

function namesIn(directory: string): string[] {
  try {
    return readSystemEntries(directory).map(({ name }) => name);
  } catch {
    return []; // Gone meanwhile, or not to be listed.
  }
}

/**
 * All threads of all processes that this one has started, with how often each was put to sleep; "" where there is none.
 * Undefined where one runs just now or has just ended, and on systems without these numbers. From proc(5).
 */
function readProcessState(): string | undefined {
  const parts: string[] = [];
  const waiting = listChildren(process.pid);
  if (waiting === undefined) return undefined;
  // What one started itself may outlive it for a moment.
  if (waiting.some((pid) => ENDED.test(readQuietly(`/proc/${pid}/status`)))) return undefined;
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const thread of listThreads(pid)) {
      const state = readThread(pid, thread);
      if (state === undefined) return undefined;
      parts.push(state);
    }
    waiting.push(...(listChildren(pid) ?? []));
  }
  return parts.join("\n");
}

const ENDED = /^State:\t[ZX]/m;
const RUNNING = /^State:\tR/m;
const SWITCHES = /^(?:non)?voluntary_ctxt_switches:.*$/gm;

/** Undefined for one that runs just now, and where the kernel does not count. */
function readThread(pid: number, thread: string): string | undefined {
  const status = readQuietly(`/proc/${pid}/task/${thread}/status`);
  if (RUNNING.test(status)) return undefined;
  const switches = status.match(SWITCHES);
  return switches === null && status !== "" ? undefined : `${pid} ${thread} ${switches?.join(" ") ?? ""}`;
}

/**
 * The page faults of all processes that this one has started and waited for: each that ends adds some. Undefined where
 * the kernel does not count. From proc(5).
 */
function readEndedProcesses(): string | undefined {
  // The second field, the name in parentheses, may hold anything; the fields here are cminflt (11) and cmajflt (13).
  const [, rest = ""] = /\) (.*)$/s.exec(readQuietly("/proc/self/stat")) ?? [];
  const fields = rest.split(" ");
  return fields.length > 10 ? `${fields[8]} ${fields[10]}` : undefined;
}

/** Undefined where the kernel does not tell. */
function listChildren(pid: number): number[] | undefined {
  try {
    const texts = listThreads(pid).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"),
    );
    return texts.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
  } catch (error) {
    // A process that has just ended has none; a kernel without this file shows the threads all the same.
    return systemErrorCode(error) === "ENOENT" && pid === process.pid ? undefined : [];
  }
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It has ended.
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // It has ended.
  }
}
