import { readFileSync } from "node:fs";
import { systemErrorCode } from "../system-error.ts";
import { hasProcessTable } from "./process-table.ts";

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
