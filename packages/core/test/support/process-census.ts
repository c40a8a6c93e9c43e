import { readdirSync, readFileSync } from "node:fs";
import { BUSY_MS } from "./busy-machine.ts";

/** A number of seconds for `sleep` that no other process uses, so that the process can be found by it. */
export function uniqueSleepSeconds(): string {
  return `9${Math.random().toString().slice(2, 12)}`;
}

/** How many living processes have `text` in their command line, zombies and this process aside. */
export function countProcesses(text: string): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isAliveWith(name, text)).length;
}

/** Waits until none is left, for as long as ending them may take on a busy machine; returns how many are left. */
export async function countLeftRunning(text: string): Promise<number> {
  const deadline = performance.now() + 2_000 + BUSY_MS;
  while (countProcesses(text) > 0 && performance.now() < deadline) await Bun.sleep(10);
  return countProcesses(text);
}

function isAliveWith(pid: string, text: string): boolean {
  if (pid === String(process.pid)) return false;
  try {
    const isZombie = / Z \d/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    return !isZombie && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
  } catch {
    return false; // It has just ended.
  }
}

/** The living processes whose environment holds this variable with this value. */
export function findProcessesByVariable(name: string, value: string): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return variables.includes(`${name}=${value}`) ? [Number(pid)] : [];
    } catch {
      return []; // No process, one that has just ended, or somebody else's.
    }
  });
}
