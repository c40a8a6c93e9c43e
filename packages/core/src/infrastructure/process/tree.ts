import { readdirSync, readFileSync } from "node:fs";
import { monotonicMs, sleep } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { readMountNamespace } from "./mount-namespace.ts";

interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
}

// PF_KTHREAD of the kernel's sched.h: most of a table is these, and nobody has started them.
const KERNEL_THREAD = 0x200000;

/** True where the kernel shows all processes in `/proc`. */
export function hasProcessTable(): boolean {
  return process.platform === "linux";
}

/** What was found of a tree. */
interface FoundTree {
  processes: FoundProcess[];
  /**
   * False where something was on the move just then that may be a part of it: it ended, and may have left something behind,
   * or was becoming another program, when nothing tells whose it is.
   */
  isCertain: boolean;
}

/** Process and group by their numbers. */
type FoundProcess = Pick<ProcessRow, "pid" | "group">;

/**
 * The living processes that belong to a tree: members of its groups (or of sessions of that number), processes whose
 * environment contains its mark, those in its mount namespace, and whatever descends from any of these. Zombies, threads
 * of the kernel and this process are left out. Without a mount namespace, a process that left its group, dropped its
 * environment and lost its parent cannot be found.
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
    if (isMember || reader.hasMark(pid, mark) || isInside(pid)) found.add(pid);
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
      // Somebody else's tells nothing about ours; what has ended since the list was read may have left something behind.
      if (!["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) this.isCertain = false;
      return undefined;
    }
  }
}

/** Undefined for what does not live, and for threads of the kernel. */
function toRow(pid: number, stat = ""): ProcessRow | undefined {
  // The name in parentheses may itself hold spaces and parentheses. After it: state, parent, group, session, terminal and
  // its foreground, flags.
  const [state, parent, group, session, , , flags] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 7);
  if (state === undefined || flags === undefined || state === "Z" || state === "X") return undefined;
  if ((Number(flags) & KERNEL_THREAD) !== 0) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

/** How to find a process and what it started: the groups it leads, and a text in the environment of its descendants. */
export interface ProcessTree {
  groups: readonly number[];
  mark: string;
  /** The mount namespace that it has to itself. */
  mountNamespace?: string | undefined;
  /** Of the groups, those that end by themselves once the others have: they are killed, never asked to end. */
  keepers?: readonly number[] | undefined;
  /** Of the groups, those that hold what the others need: they are killed once nothing else is left. */
  holders?: readonly number[] | undefined;
}

/** What a process group is for: see `ProcessTree`. */
export type ProcessRole = "worker" | "keeper" | "holder";

/** A process group, by the process that leads it. */
export interface ProcessGroup {
  leader: number;
  role: ProcessRole;
  /** True once the leader has ended and was waited for; its number is then free as soon as the group is empty. */
  leaderExited: boolean;
}

const TERM_GRACE_MS = 1_000;
const LIMIT_MS = 1_900;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 80;

// A process that forks faster than it is found escapes one round, not several.
const LAST_ROUNDS = 5;
// At the moment at which a process becomes another program nothing tells that it is ours.
const EMPTY_LOOKS = 2;

/**
 * Ends all that `find` finds: TERM, KILL after a second. Resolves with true as soon as nothing is left, or after two
 * seconds with false. Without a process table (see `hasProcessTable`) only the groups themselves are ended.
 */
export async function endTree(find: () => ProcessTree): Promise<boolean> {
  const begin = monotonicMs();
  const first = look(find());
  if (first.targets.length === 0 && first.isCertain) return true;
  let left = first.targets;
  for (const { target, role } of left) {
    if (role !== "worker") continue;
    signalProcess(target, "SIGTERM");
    // A stopped process acts on TERM only once it continues.
    signalProcess(target, "SIGCONT");
  }
  let emptyLooks = left.length === 0 ? 1 : 0;
  for (let pauseMs = FIRST_PAUSE_MS; emptyLooks < EMPTY_LOOKS; pauseMs = nextPause(pauseMs, emptyLooks)) {
    const elapsedMs = monotonicMs() - begin;
    if (elapsedMs >= LIMIT_MS) return false;
    const isLast = left.every(({ role }) => role === "holder");
    if (isLast || elapsedMs >= TERM_GRACE_MS) killAll(left);
    const boundaryMs = elapsedMs < TERM_GRACE_MS ? TERM_GRACE_MS : LIMIT_MS;
    await sleep(Math.min(pauseMs, Math.max(1, boundaryMs - elapsedMs)));
    left = look(find()).targets;
    emptyLooks = left.length === 0 ? emptyLooks + 1 : 0;
  }
  return true;
}

function killAll(targets: readonly Target[]): void {
  for (const { target } of targets) signalProcess(target, "SIGKILL");
}

function nextPause(pauseMs: number, emptyLooks: number): number {
  return emptyLooks > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
}

/** Kills all that `find` finds, without waiting for it to be gone. */
export function endTreeNow(find: () => ProcessTree): void {
  for (let round = 0; round < LAST_ROUNDS; round++) {
    const { targets } = look(find());
    if (targets.length === 0) return;
    killAll(targets);
  }
}

/** True while the group has members, zombies included, and its number has not passed to somebody else. */
export function isGroupAlive({ leader, leaderExited }: ProcessGroup): boolean {
  if (!leaderExited) return true;
  // A number is not given away while a group bears it, so a process of that number is a stranger.
  return signalProcess(-leader, 0) && !signalProcess(leader, 0);
}

/** True when something of the tree runs. */
export function isTreeAlive(tree: ProcessTree): boolean {
  return look(tree).targets.length > 0;
}

interface Look {
  targets: Target[];
  /** Nothing of the tree can have escaped it. */
  isCertain: boolean;
}

/** What to signal: a process, or, as a negative number, a whole group where single processes cannot be listed. */
interface Target {
  target: number;
  role: ProcessRole;
}

function look(tree: ProcessTree): Look {
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

/** Sends a signal (0 only asks); false when there is no such process or it is not ours to signal. */
function signalProcess(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    // It has ended by itself in the meantime, which is what was wanted.
    return false;
  }
}

// In /proc/PID/stat, counted from the state, which follows the name in parentheses.
const START_TIME_FIELD = 19;

/** Names a process for good: numbers are given again, and not at the same time. */
export interface ProcessIdentity {
  pid: number;
  /** In ticks since the system was started; undefined where it is not told (only Linux does). */
  startTime?: string | undefined;
}

let own: ProcessIdentity | undefined;

/** Of this very process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, startTime: readStartTime(process.pid) };
  return own;
}

/** True while that very process runs; a zombie does not. Without a start time, while any process has its number. */
export function isProcessAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime !== undefined && hasProcessTable()) return readStartTime(pid) === startTime;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is alive too.
    return systemErrorCode(error) === "EPERM";
  }
}

function readStartTime(pid: number): string | undefined {
  if (!hasProcessTable()) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[START_TIME_FIELD];
  } catch {
    // It has ended.
    return undefined;
  }
}
