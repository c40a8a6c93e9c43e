import { readdirSync, readFileSync } from "node:fs";
import { systemErrorCode } from "../system-error.ts";

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
export interface FoundTree {
  /** Their numbers. */
  processes: number[];
  /**
   * False where something was on the move just then that may be a part of it: it ended, and may have left something behind,
   * or was becoming another program, when nothing tells whose it is.
   */
  isCertain: boolean;
}

/**
 * The living processes that belong to a tree: members of the given groups (or of sessions of that number), processes
 * whose environment contains `mark`, and whatever descends from any of these. Zombies, threads of the kernel and this
 * process are left out. A process that left its group, dropped its environment and lost its parent cannot be found.
 */
export function findProcessTree(groups: ReadonlySet<number>, mark: string): FoundTree {
  const reader = new ProcessReader();
  const rows = reader.readTable();
  const found = new Set<number>();
  for (const { pid, group, session } of rows) {
    if (groups.has(group) || groups.has(session) || reader.hasMark(pid, mark)) found.add(pid);
  }
  addDescendants(rows, found);
  found.delete(process.pid);
  return { processes: [...found], isCertain: reader.isCertain };
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
