import { countChildren, countOpenFiles, readMegabytes } from "../measure/process-figures.ts";

/** What a process holds at a moment at which it rests. */
export interface ProcessSample {
  /** Resident, of 1,048,576 bytes. */
  megabytes: number;
  /** Files, pipes and sockets. */
  files: number;
  children: number;
}

export function sampleProcess(pid: number): ProcessSample {
  return { megabytes: readMegabytes(pid).now, files: countOpenFiles(pid), children: countChildren(pid) };
}

/** What a process has more of than before, in words; its memory aside. */
export function findLeaks(before: ProcessSample, after: ProcessSample): string[] {
  const leaks: string[] = [];
  if (after.files > before.files) leaks.push(`open files went from ${before.files} to ${after.files}`);
  if (after.children > before.children) {
    leaks.push(`children went from ${before.children} to ${after.children}`);
  }
  return leaks;
}

export function describeSample({ megabytes, files, children }: ProcessSample): string {
  return `${megabytes.toFixed(1)} MB, ${files} open files, ${children} children`;
}
