import { readdirSync, readFileSync } from "node:fs";

// Linux counts in hundredths of a second for every program, whatever its own clock does.
const TICKS_PER_SECOND = 100;

/** User and system time of a living process, without its children, in seconds. */
export function readCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, in parentheses, may hold anything; the fields behind it are counted from the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number);
  if (user === undefined || system === undefined) throw new Error(`/proc/${pid}/stat has no times.`);
  return (user + system) / TICKS_PER_SECOND;
}

/** Resident memory of a living process, in MB of 1,048,576 bytes: now, and the highest so far. */
export function readMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return { now: readNumber(status, "VmRSS") / 1024, peak: readNumber(status, "VmHWM") / 1024 };
}

/** How often the first thread of a living process, on which its timers run, went to sleep so far. */
export function readSleeps(pid: number): number {
  return readNumber(readFileSync(`/proc/${pid}/task/${pid}/status`, "latin1"), "voluntary_ctxt_switches");
}

/** How many files, pipes and sockets a living process has open. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** How many processes have this one for their parent, those included that have ended and that it has not asked about. */
export function countChildren(pid: number): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && readParent(name) === pid).length;
}

function readParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // It has just ended.
  }
}

function readNumber(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1];
  if (found === undefined) throw new Error(`The kernel shows no ${name} (/proc) here.`);
  return Number(found);
}
