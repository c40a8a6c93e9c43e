import { monotonicMs } from "../infrastructure/runtime.ts";
import { Job, type JobStart, type JobUpdate } from "./job.ts";

const MAX_RUNNING = 50;
// The number of ended jobs that are kept; the outputs of older ones are removed.
const MAX_ENDED = 50;
// A command is shown as running while its sandbox and the record of the project's state are being prepared.
const PREPARATION_MS = 3_000;

/** A job that a session's entries mention. */
export interface EarlierJob {
  id: string;
  /** True if the model was told that it has ended, or that it outlives the session. */
  isEndKnown: boolean;
}

/** The commands of a session that run in the background, and those that have ended. */
export class SessionJobs {
  private readonly jobs: Job[] = [];
  private readonly listeners = new Set<(update: JobUpdate) => void>();
  private readonly foreground = new Set<AbortController>();
  private number = 1;
  /** Set if a command was to be moved to the background while there was none. */
  private leaveRequestedMs = Number.NEGATIVE_INFINITY;
  private lostIds: readonly string[] = [];

  /**
   * New jobs get higher numbers than these. The model is told about those that were running when the session was
   * closed: they ended with it.
   */
  continueFrom(earlier: readonly EarlierJob[]): void {
    this.number = Math.max(this.number, ...earlier.map(({ id }) => Number(id) + 1));
    const known = new Set(this.jobs.map(({ id }) => id));
    const lost = earlier.filter(({ id, isEndKnown }) => !isEndKnown && !known.has(id));
    this.lostIds = lost.map(({ id }) => id);
  }

  /** Oldest first. */
  get list(): readonly Job[] {
    return this.jobs;
  }

  get runningCount(): number {
    return this.jobs.filter(({ isRunning }) => isRunning).length;
  }

  /** True while a command is running that `leaveForeground` can turn into a job. */
  get hasForeground(): boolean {
    return this.foreground.size > 0;
  }

  get hasRoom(): boolean {
    return this.runningCount < MAX_RUNNING;
  }

  /** @throws Error, for the model, if the limit of jobs is reached. */
  assertRoom(): void {
    if (!this.hasRoom)
      throw new Error(`${MAX_RUNNING} jobs are running, which is the limit. End one with job_kill first.`);
  }

  /** Also for an id with words around its number, such as `job_2`. @throws Error, for the model, if there is none. */
  find(id: string): Job {
    const number = /(\d+)\D*$/.exec(id)?.[1];
    const job = this.jobs.find((each) => each.id === number);
    if (job) return job;
    const known = this.jobs.map((each) => `${each.id} (${each.describeState()})`).join(", ");
    throw new Error(`There is no job ${id}. ${known === "" ? "None was started." : `Jobs: ${known}.`}`);
  }

  add(start: JobStart): Job {
    const job = new Job(String(this.number), start);
    this.number += 1;
    this.jobs.push(job);
    this.report(job);
    void job.ended.then(() => {
      this.report(job);
      this.forgetOldest();
    });
    return job;
  }

  /** For a job whose command could not be started. The next attempt gets its number, if no other job was added since. */
  forget(job: Job): void {
    this.jobs.splice(this.jobs.indexOf(job), 1);
    job.output.remove();
    if (Number(job.id) === this.number - 1) this.number -= 1;
  }

  /** Called with each update; returns a function that unsubscribes. */
  subscribe(listener: (update: JobUpdate) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** For a command that the user may move to the background: `leave` is aborted then. */
  enterForeground(): { leave: AbortSignal; done(): void } {
    const controller = new AbortController();
    this.foreground.add(controller);
    if (monotonicMs() - this.leaveRequestedMs < PREPARATION_MS) controller.abort();
    this.leaveRequestedMs = Number.NEGATIVE_INFINITY;
    return { leave: controller.signal, done: () => this.foreground.delete(controller) };
  }

  /** Moves the commands in the foreground to the background, or else the one that is about to start; false without room. */
  leaveForeground(): boolean {
    if (!this.hasRoom) return false;
    if (!this.hasForeground) this.leaveRequestedMs = monotonicMs();
    for (const controller of this.foreground) controller.abort();
    return true;
  }

  /** The pending messages for the model: a line for each job that has ended. */
  takeNotices(): string[] {
    const lost = describeLost(this.lostIds);
    this.lostIds = [];
    const ended = this.jobs.filter(({ isRunning, isEndKnown }) => !isRunning && !isEndKnown);
    for (const job of ended) job.isEndKnown = true;
    return [...lost, ...ended.map(describeEnd)];
  }

  /** Ends all that do not outlive the session. */
  async endAll(): Promise<void> {
    const running = this.jobs.filter(({ isRunning, isDetached }) => isRunning && !isDetached);
    await Promise.all(running.map((job) => job.end()));
  }

  private report(job: Job): void {
    for (const listener of this.listeners) listener(job.toUpdate());
  }

  private forgetOldest(): void {
    const ended = this.jobs.filter(({ isRunning, isEndKnown }) => !isRunning && isEndKnown);
    for (const job of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.jobs.splice(this.jobs.indexOf(job), 1);
      job.output.remove();
    }
  }
}

const SHOWN_CHARS = 200;

/** The messages to the model about the end of one job, whose number is the first group, or of several. */
export const JOB_END_NOTICE = /^\[Job (\d+) (?:ended|was killed)/;
export const LOST_JOBS_NOTICE = /^\[Jobs? (\d+(?:, \d+)*) no longer run/;

function describeEnd(job: Job): string {
  const how = job.state === "killed" ? "was killed" : `ended (${job.describeState()})`;
  const isNew = job.shownBytes < job.output.totalBytes;
  const line = isNew ? shorten(job.output.lastLine()) : "";
  const last = line === "" ? "" : `. Its last line: ${line}`;
  return `[Job ${job.id} ${how}: ${shorten(job.command)}${last}]`;
}

function describeLost(ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const jobs = ids.length === 1 ? `Job ${ids[0]} no longer runs` : `Jobs ${ids.join(", ")} no longer run`;
  return [`[${jobs}: this session was closed meanwhile.]`];
}

function shorten(text: string): string {
  const line = text.trim().replace(/\s*\n\s*/g, " ↵ ");
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`;
}
