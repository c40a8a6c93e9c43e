import type { ProjectSession } from "@diligent/core/harness";
import type { Job, JobUpdate } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";

type Jobs = ProjectSession["jobs"];

/** Follows the jobs of the current session, and those of sessions that were replaced until they have ended. */
export class JobWatch {
  private current: Jobs | undefined;
  private readonly watched = new WeakSet<Jobs>();

  /** @param show called with each update, and how many jobs of the current session run. */
  constructor(private readonly show: (update: JobUpdate, runningCount: number) => void) {}

  open({ jobs }: ProjectSession): void {
    this.current = jobs;
    if (this.watched.has(jobs)) return;
    this.watched.add(jobs);
    jobs.subscribe((update) => this.show(update, this.current?.runningCount ?? 0));
  }
}

const MAX_COLUMNS = 100;

/** On one line; undefined for a job that runs: the call that started it is shown. */
export function describeJobUpdate({ id, state, command, exitCode }: JobUpdate): string | undefined {
  if (state === "running") return undefined;
  const how = state === "killed" ? "was ended" : "ended";
  const code = exitCode === undefined ? "" : ` (exit ${exitCode})`;
  return toSingleLine(`Job ${id} ${how}${code}: ${command}`, MAX_COLUMNS);
}

const MAX_LISTED = 5;

/** The jobs that end with the program, and those that outlive it; a line each. */
export function describeJobsAtExit(jobs: readonly Job[]): string[] {
  const running = jobs.filter(({ isRunning }) => isRunning);
  const ending = running.filter(({ isDetached }) => !isDetached);
  const hidden = ending.length - MAX_LISTED;
  return [
    ...ending.slice(0, MAX_LISTED).map(({ id, command }) => `Job ${id} ends with the session: ${command}`),
    ...(hidden > 0 ? [`${hidden} more ${hidden === 1 ? "job ends" : "jobs end"} with it.`] : []),
    ...running
      .filter(({ isDetached }) => isDetached)
      .map(({ id, command, output }) => `Job ${id} keeps running, see ${output.path}: ${command}`),
  ].map((line) => toSingleLine(line, MAX_COLUMNS));
}
