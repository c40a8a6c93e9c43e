import { countChildren, countOpenFiles, readMegabytes } from "../measure/process-figures.ts";

/** What a process holds at a moment at which it rests. */
export interface ProcessSample {
  /** Resident, of 1,048,576 bytes. */
  megabytes: number;
  /** Files, pipes and sockets. */
  files: number;
  children: number;
}

/** Reads it from `/proc`, so on Linux only. */
export function sampleProcess(pid: number): ProcessSample {
  return { megabytes: readMegabytes(pid).now, files: countOpenFiles(pid), children: countChildren(pid) };
}
