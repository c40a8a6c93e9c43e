import { readdirSync, readFileSync } from "node:fs";

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

/**
 * The living processes that belong to a tree: members of the given groups (or of sessions of that number), processes
 * whose environment contains `mark`, and whatever descends from any of these. Zombies, threads of the kernel and this
 * process are left out. A process that left its group, dropped its environment and lost its parent cannot be found.
 */
export function findProcessTree(groups: ReadonlySet<number>, mark: string): number[] {
  const rows = readProcessTable();
  const found = new Set<number>();
  for (const row of rows) {
    if (groups.has(row.group) || groups.has(row.session) || hasMark(row.pid, mark)) found.add(row.pid);
  }
  addDescendants(rows, found);
  found.delete(process.pid);
  return [...found];
}

function addDescendants(rows: readonly ProcessRow[], found: Set<number>): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const row of rows) if (found.has(row.parent)) found.add(row.pid);
  }
}

function readProcessTable(): ProcessRow[] {
  return readdirSync("/proc").flatMap((name) => {
    const first = name.charCodeAt(0);
    if (first < 0x30 || first > 0x39) return [];
    const row = readProcessRow(Number(name));
    return row === undefined ? [] : [row];
  });
}

function readProcessRow(pid: number): ProcessRow | undefined {
  const stat = readProcessFile(pid, "stat");
  // The name in parentheses may itself hold spaces and parentheses. After it: state, parent, group, session, terminal and
  // its foreground, flags.
  const [state, parent, group, session, , , flags] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 7);
  if (state === undefined || flags === undefined || state === "Z" || state === "X") return undefined;
  if ((Number(flags) & KERNEL_THREAD) !== 0) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

function hasMark(pid: number, mark: string): boolean {
  return pid !== process.pid && readProcessFile(pid, "environ").includes(mark);
}

function readProcessFile(pid: number, name: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    // It has ended since the list was read, or belongs to somebody else.
    return "";
  }
}
