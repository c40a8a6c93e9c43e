import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { directoryOf, namesIn } from "../fs/seen-file.ts";
import { toSystemPath } from "../fs/stat.ts";
import { monotonicMs, now } from "../runtime.ts";

const SHORTEST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;
// What is created after the last sample before something wakes up counts as its work: the longer everything has slept, the
// longer the pause may be for this to stay a small part of the time.
const SLEEP_PER_PAUSE = 8;
// A sample of a build with hundreds of processes is not to take more than a twentieth of the time.
const PAUSE_PER_COST = 20;

// The kernel's clock for files is behind by that much at most.
const TICK_MS = 12;

// What bubblewrap started ends a moment after bubblewrap itself when that is killed, and is nobody's child meanwhile; on
// a busy machine it waits for its turn first.
const EXIT_GRACE_MS = 250;

// Commands that wake up all the time make many.
const MAX_SPANS = 2_000;

// Of what is new; a repository that somebody has just made holds thousands of files.
const MAX_ENTRIES = 5_000;

// A person who creates a few protected files a day does not do so during just these seconds.
const SHORT_COMMAND_MS = 2_000;

interface Span {
  fromMs: number;
  toMs: number;
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
  private lastEnded: string | undefined;
  private endedAtMs = Number.NEGATIVE_INFINITY;
  /** When commands were waited for, each until all of these had returned, and since when one is. */
  private readonly awaited: Span[] = [];
  private awaitedSinceMs: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param readState how far the processes in other process namespaces have come that this one has started: the same again
   * only where none of them ran or started in between; undefined where one runs just now.
   * @param readEnded changes with each process that begins or ends; undefined where nobody can tell.
   */
  constructor(
    private readonly readState: () => string | undefined = readSandboxState,
    private readonly readEnded: () => string | undefined = readOwnChildren,
  ) {}

  /** A command begins: takes samples until `stop`. */
  beginCommand(): void {
    if (this.idleSinceMs !== undefined) add(this.idle, { fromMs: this.idleSinceMs, toMs: now() });
    this.idleSinceMs = undefined;
    this.awaitedSinceMs ??= now();
    this.wait(SHORTEST_PAUSE_MS);
  }

  /** All commands have returned; some may still have running processes. */
  endCommands(): void {
    // A file that was created in the last millisecond has a fraction more.
    if (this.awaitedSinceMs !== undefined)
      add(this.awaited, { fromMs: this.awaitedSinceMs, toMs: now() + 1 });
    this.awaitedSinceMs = undefined;
  }

  /** All commands have ended, and no process of them runs any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.last = undefined;
    this.idleSinceMs ??= now();
  }

  /** To be called before something is asked about this moment. */
  sample(): void {
    const beganAtMs = now();
    const [threads, ended] = [this.readState(), this.readEnded()];
    if (this.lastEnded !== undefined && ended !== this.lastEnded) this.endedAtMs = now();
    this.lastEnded = ended;
    const state = threads === undefined || ended === undefined ? undefined : `${ended}\n${threads}`;
    const isAsleep = state !== undefined && state === this.last?.state;
    if (isAsleep && this.last) this.last.span.toMs = beganAtMs;
    if (isAsleep) return;
    // A file that was changed in the last millisecond has a fraction more.
    const fromMs = Math.max(now() + 1, this.endedAtMs + EXIT_GRACE_MS);
    this.last = state === undefined ? undefined : { state, span: { fromMs, toMs: beganAtMs } };
    if (this.last) add(this.asleep, this.last.span);
  }

  /** The outermost parts of something new that a command may have created. */
  findSuspects(path: string): string[] {
    return this.search(path, { left: MAX_ENTRIES }).suspects;
  }

  /**
   * True for what was created while a command ran that took so short a time that nobody else creates such a file in it, or
   * what came to lie there with a directory around it.
   * @param root around which nothing is looked at.
   */
  isByShortCommand(path: string, root: string): boolean {
    const short = this.awaited.filter(({ fromMs, toMs }) => toMs - fromMs <= SHORT_COMMAND_MS);
    const isWithin = (atMs: number) =>
      short.some(({ fromMs, toMs }) => atMs >= fromMs - TICK_MS && atMs <= toMs);
    for (let around = path; around.length > root.length; around = directoryOf(around)) {
      const times = readTimes(around);
      if (times === undefined || isWithin(times.bornMs) || isWithin(times.changedMs)) return true;
    }
    return false;
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

  private wait(pauseMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const beganAtMs = monotonicMs();
      this.sample();
      const { fromMs = 0, toMs = 0 } = this.last?.span ?? {};
      const nextMs = Math.min(
        Math.max(SHORTEST_PAUSE_MS, (toMs - fromMs) / SLEEP_PER_PAUSE),
        LONGEST_PAUSE_MS,
      );
      this.wait(Math.max(nextMs, (monotonicMs() - beganAtMs) * PAUSE_PER_COST));
    }, pauseMs).unref();
  }
}

function add(spans: Span[], span: Span): void {
  spans.push(span);
  if (spans.length > MAX_SPANS) spans.shift();
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

/** From proc(5): a thread that has run was put to sleep once more. */
function readSandboxState(): string | undefined {
  const home = readNamespace("self");
  const waiting = listChildren("self");
  if (home === undefined || waiting === undefined) return undefined;
  const parts: string[] = [];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    waiting.push(...(listChildren(pid) ?? []));
    // One that has ended, or hides what it is, counts as sandboxed.
    if (readNamespace(pid) === home) continue;
    for (const thread of listThreads(pid)) {
      const status = readQuietly(`/proc/${pid}/task/${thread}/status`) ?? "";
      const switches = status.match(SWITCHES);
      if (RUNNING.test(status) || (switches === null && status !== "")) return undefined;
      parts.push(`${pid} ${thread} ${switches?.join(" ") ?? ""}`);
    }
  }
  return parts.join("\n");
}

/**
 * The processes that this one has started, and the page faults of those that it has waited for, to which each that ends adds
 * some: a whole command may live between two samples, and leaves nothing but that trace.
 */
function readOwnChildren(): string | undefined {
  const stat = readQuietly("/proc/self/stat") ?? "";
  // The name in parentheses may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const children = listChildren("self");
  return children && [...children, fields[8], fields[10]].join(" ");
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
