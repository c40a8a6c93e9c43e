import { readFileSync } from "node:fs";

// The kernel keeps the peak itself, so only what is added in the last moments before the end can be missed.
const INTERVAL_MS = 2;

/** The highest resident memory a process has had so far, in MB of 1,048,576 bytes. */
export interface PeakMemory {
  readonly megabytes: number;
  stop(): void;
}

/**
 * Watches the peak of a living process. The figure of `wait4`, which `resourceUsage()` gives, is no use here: on Linux it
 * begins with the size of the process that started it.
 */
export function watchPeakMemory(pid: number): PeakMemory {
  let kilobytes = 0;
  const look = () => {
    kilobytes = Math.max(kilobytes, readPeakKilobytes(pid));
  };
  const timer = setInterval(look, INTERVAL_MS);
  return {
    get megabytes() {
      return kilobytes / 1024;
    },
    stop: () => clearInterval(timer),
  };
}

function readPeakKilobytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
  } catch {
    // It has ended since the last look.
    return 0;
  }
}
