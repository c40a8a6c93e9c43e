import { readdirSync, readlinkSync } from "node:fs";
import { monotonicMs } from "../runtime.ts";

// Background commands are checked one by one, at about the same time.
const SHARED_FOR_MS = 500;

let last: { table: string; atMs: number; ids: ReadonlySet<string> } | undefined;

/**
 * True while a process lives in a mount namespace; a zombie does not count.
 * @param table a file system of processes: `/proc`, or that of another process namespace.
 * @param options.isUrgent false if a recent result is sufficient.
 */
export function isMountNamespaceUsed(id: string, table: string, { isUrgent = true } = {}): boolean {
  const atMs = monotonicMs();
  if (isUrgent || last?.table !== table || atMs - last.atMs > SHARED_FOR_MS) {
    const ids = listProcesses(table).flatMap((pid) => readMountNamespace(pid, table) ?? []);
    last = { table, atMs, ids: new Set(ids) };
  }
  return last.ids.has(id);
}

/** The numbers of the processes in a mount namespace, as the table has them. */
export function findInMountNamespace(id: string, table: string): number[] {
  return listProcesses(table).filter((pid) => readMountNamespace(pid, table) === id);
}

/** Undefined for a process that has ended, or that is not ours to look at. */
export function readMountNamespace(pid: number, table = "/proc"): string | undefined {
  try {
    return /^mnt:\[(\d+)\]$/.exec(readlinkSync(`${table}/${pid}/ns/mnt`))?.[1];
  } catch {
    return undefined;
  }
}

function listProcesses(table: string): number[] {
  try {
    return readdirSync(table)
      .filter((name) => /^\d/.test(name))
      .map(Number);
  } catch {
    return []; // When the process namespace has ended, so have all its processes.
  }
}
