import { readdirSync, readFileSync } from "node:fs";
import { isProcessRunning, monotonicMs, sleep } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { readMountNamespace } from "./mount-namespace.ts";

interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
}

// PF_KTHREAD of the kernel's sched.h: kernel threads, which are most of the table.
const KERNEL_THREAD = 0x200000;

/** True when the kernel lists all processes in `/proc`. */
export function hasProcessTable(): boolean {
  return process.platform === "linux";
}

/** The processes found of a tree. */
interface FoundTree {
  processes: FoundProcess[];
  /**
   * False when a process that may belong to the tree was changing at that moment: it ended, and may have left a child,
   * or was executing another program, while its environment is not readable.
   */
  isCertain: boolean;
}

/** Process and group by their numbers. */
type FoundProcess = Pick<ProcessRow, "pid" | "group">;

/**
 * The living processes of a tree: members of its groups (or of sessions with that number), processes whose environment
 * contains its mark, those in its mount namespace, and all descendants of these. Zombies, kernel threads and this
 * process are left out. Without a mount namespace, a process that left its group, cleared its environment and lost its
 * parent cannot be found.
 */
export function findProcessTree({
  groups,
  mark,
  mountNamespace,
}: Pick<ProcessTree, "groups" | "mark" | "mountNamespace">): FoundTree {
  const reader = new ProcessReader();
  const rows = reader.readTable();
  const found = new Set<number>();
  const isInside = (pid: number) =>
    mountNamespace !== undefined && readMountNamespace(pid) === mountNamespace;
  for (const { pid, group, session } of rows) {
    const isMember = groups.includes(group) || groups.includes(session);
    if (isMember || (mark && reader.hasMark(pid, mark)) || isInside(pid)) found.add(pid);
  }
  addDescendants(rows, found);
  found.delete(process.pid);
  return { processes: rows.filter(({ pid }) => found.has(pid)), isCertain: reader.isCertain };
}

function addDescendants(rows: readonly ProcessRow[], found: Set<number>): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const row of rows) if (found.has(row.parent)) found.add(row.pid);
  }
}

class ProcessReader {
  /** See `FoundTree`. */
  isCertain = true;

  readTable(): ProcessRow[] {
    return readdirSync("/proc").flatMap((name) => {
      const first = name.charCodeAt(0);
      if (first < 0x30 || first > 0x39) return [];
      const row = toRow(Number(name), this.read(Number(name), "stat"));
      return row === undefined ? [] : [row];
    });
  }

  hasMark(pid: number, mark: string): boolean {
    if (pid === process.pid) return false;
    const environment = this.read(pid, "environ");
    if (environment === "") this.isCertain = false;
    return environment?.includes(mark) ?? false;
  }

  private read(pid: number, name: "stat" | "environ"): string | undefined {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "latin1");
    } catch (error) {
      // A process of another user is irrelevant; one that has ended since the list was read may have left a child.
      if (!["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) this.isCertain = false;
      return undefined;
    }
  }
}

/** Undefined for a dead process and for kernel threads. */
function toRow(pid: number, stat = ""): ProcessRow | undefined {
  // The name in parentheses may contain spaces and parentheses. After it: state, parent, group, session, terminal and
  // its foreground group, flags.
  const [state, parent, group, session, , , flags] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 7);
  if (state === undefined || flags === undefined || state === "Z" || state === "X") return undefined;
  if ((Number(flags) & KERNEL_THREAD) !== 0) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

// The unit of times in /proc, on every architecture that Linux has today (USER_HZ).
const TICK_MS = 10;
// In /proc/PID/stat, counted from the state: utime, stime, and those of children that were waited for.
const CPU_FIELDS = [11, 12, 13, 14];

/** Processor time of these processes and of their children that have ended. @param table see `isMountNamespaceUsed`. */
export function readCpuMs(processes: readonly number[], table = "/proc"): number {
  const ticks = processes.map((pid) => {
    const fields = statFields(readQuietly(`${table}/${pid}/stat`));
    return CPU_FIELDS.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
}

/** The same for all that runs of a tree. */
export function readTreeCpuMs(tree: ProcessTree): number {
  return hasProcessTable() ? readCpuMs(findProcessTree(tree).processes.map(({ pid }) => pid)) : 0;
}

/**
 * Bytes of physical memory of these processes together, as far as they can be read.
 * @param table a file system of processes: `/proc`, or that of another process namespace.
 */
export function readMemoryBytes(processes: readonly number[], table = "/proc"): number {
  const kibibytes = processes.map(
    (pid) => /^VmRSS:\s*(\d+) kB$/m.exec(readQuietly(`${table}/${pid}/status`))?.[1],
  );
  return kibibytes.reduce((sum, each) => sum + Number(each ?? 0), 0) * 1024;
}

/** The same for all that runs of a tree; undefined where the system does not list processes. */
export function readTreeMemoryBytes(tree: ProcessTree): number | undefined {
  return hasProcessTable()
    ? readMemoryBytes(findProcessTree(tree).processes.map(({ pid }) => pid))
    : undefined;
}

/** From the state on, which follows the name in parentheses: that may itself hold spaces and parentheses. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // It has ended.
  }
}

/** How to find a process and what it started: the groups it leads, and a text in the environment of its descendants. */
export interface ProcessTree {
  groups: readonly number[];
  /** None of its processes is found by one when left out. */
  mark?: string | undefined;
  /** The mount namespace that it has to itself. */
  mountNamespace?: string | undefined;
  /** Those groups that end by themselves after the others: they are killed, never sent TERM. */
  keepers?: readonly number[] | undefined;
  /** Those groups that hold resources of the others: they are killed once nothing else is left. */
  holders?: readonly number[] | undefined;
}

/** The role of a process group: see `ProcessTree`. */
export type ProcessRole = "worker" | "keeper" | "holder";

/** A process group, identified by its leader. */
export interface ProcessGroup {
  leader: number;
  role: ProcessRole;
  /** True once the leader has ended and was waited for; its number is free as soon as the group is empty. */
  leaderExited: boolean;
}

const TERM_GRACE_MS = 1_000;
const LIMIT_MS = 1_900;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 80;

// A process that forks faster than it is found escapes one round, not several.
const MAX_KILL_ROUNDS = 5;
// While a process executes another program, its environment is not readable.
const EMPTY_SCANS = 2;

/**
 * Ends all processes that `find` finds: TERM, then KILL after a second. Resolves with true as soon as none is left, or
 * after two seconds with false. Without a process table (see `hasProcessTable`) only the groups themselves are ended.
 */
export async function endTree(find: () => ProcessTree): Promise<boolean> {
  const begin = monotonicMs();
  const first = scanTree(find());
  if (first.targets.length === 0 && first.isCertain) return true;
  let left = first.targets;
  for (const { target, role } of left) {
    if (role !== "worker") continue;
    signalProcess(target, "SIGTERM");
    // A stopped process acts on TERM only once it continues.
    signalProcess(target, "SIGCONT");
  }
  let emptyScans = left.length === 0 ? 1 : 0;
  for (let pauseMs = FIRST_PAUSE_MS; emptyScans < EMPTY_SCANS; pauseMs = nextPause(pauseMs, emptyScans)) {
    const elapsedMs = monotonicMs() - begin;
    if (elapsedMs >= LIMIT_MS) return false;
    const isLast = left.every(({ role }) => role === "holder");
    if (isLast || elapsedMs >= TERM_GRACE_MS) killAll(left);
    const boundaryMs = elapsedMs < TERM_GRACE_MS ? TERM_GRACE_MS : LIMIT_MS;
    await sleep(Math.min(pauseMs, Math.max(1, boundaryMs - elapsedMs)));
    left = scanTree(find()).targets;
    emptyScans = left.length === 0 ? emptyScans + 1 : 0;
  }
  return true;
}

function killAll(targets: readonly Target[]): void {
  for (const { target } of targets) signalProcess(target, "SIGKILL");
}

function nextPause(pauseMs: number, emptyScans: number): number {
  return emptyScans > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
}

/** Kills all processes that `find` finds, without waiting for their end. */
export function endTreeNow(find: () => ProcessTree): void {
  for (let round = 0; round < MAX_KILL_ROUNDS; round++) {
    const { targets } = scanTree(find());
    if (targets.length === 0) return;
    killAll(targets);
  }
}

/** True while the group has members, including zombies, and its number was not reused. */
export function isGroupAlive({ leader, leaderExited }: ProcessGroup): boolean {
  if (!leaderExited) return true;
  // A number is not reused while a group has it, so a process with that number is unrelated.
  return signalProcess(-leader, 0) && !signalProcess(leader, 0);
}

/** True when a process of the tree runs. */
export function isTreeAlive(tree: ProcessTree): boolean {
  return scanTree(tree).targets.length > 0;
}

interface TreeScan {
  targets: Target[];
  /** True when no process of the tree can have been missed. */
  isCertain: boolean;
}

/** A process to signal or, as a negative number, a whole group if single processes cannot be listed. */
interface Target {
  target: number;
  role: ProcessRole;
}

function scanTree(tree: ProcessTree): TreeScan {
  const roleOf = (group: number): ProcessRole => {
    if (tree.holders?.includes(group)) return "holder";
    return tree.keepers?.includes(group) ? "keeper" : "worker";
  };
  if (!hasProcessTable()) {
    const alive = tree.groups.filter((group) => signalProcess(-group, 0));
    return { targets: alive.map((group) => ({ target: -group, role: roleOf(group) })), isCertain: true };
  }
  const { processes, isCertain } = findProcessTree(tree);
  return { targets: processes.map(({ pid, group }) => ({ target: pid, role: roleOf(group) })), isCertain };
}

/** Sends a signal (0 only checks); false when the process is missing or may not be signaled. */
function signalProcess(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    // It has ended in the meantime, as intended.
    return false;
  }
}

// In /proc/PID/stat, counted from the state, which follows the name in parentheses.
const START_TIME_FIELD = 19;

/** Identifies a process uniquely: numbers are reused, but not at the same time. */
export interface ProcessIdentity {
  pid: number;
  /** In ticks since the system was started; undefined if unavailable (only Linux provides it). */
  startTime?: string | undefined;
}

let own: ProcessIdentity | undefined;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, startTime: readStartTime(process.pid) };
  return own;
}

/**
 * True while exactly this process runs; a zombie does not count. Without a start time, true while any process has its
 * number.
 */
export function isProcessAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime !== undefined && hasProcessTable()) return readStartTime(pid) === startTime;
  return isProcessRunning(pid);
}

/** Identifies a running process; a zombie with that id is not alive. */
export function identifyProcess(pid: number): ProcessIdentity {
  const startTime = readStartTime(pid);
  return { pid, ...(startTime !== undefined && { startTime }) };
}

function readStartTime(pid: number): string | undefined {
  if (!hasProcessTable()) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = statFields(stat);
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[START_TIME_FIELD];
  } catch {
    // It has ended.
    return undefined;
  }
}
