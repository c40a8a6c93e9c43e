import type { CommandRest } from "../infrastructure/process/run.ts";
import { now } from "../infrastructure/runtime.ts";
import type { JobOutput } from "./job-output.ts";

/** `killed`: it was ended on request, or with the session. */
export type JobState = "running" | "ended" | "killed";

/** The public description of a job. */
export interface JobUpdate {
  id: string;
  state: JobState;
  command: string;
  /** The exit code of the command itself; left out if a signal ended it. */
  exitCode?: number;
}

/** The command that becomes a job. */
export interface JobStart {
  command: string;
  rest: CommandRest;
  output: JobOutput;
  /** When the command was started; by default now. */
  startedAtMs?: number | undefined;
  /** True if the model has seen none of its output so far. */
  isUnseen?: boolean | undefined;
  /** True if it outlives the session. */
  isDetached?: boolean | undefined;
}

/** A command that runs in the background. */
export class Job {
  readonly command: string;
  readonly isDetached: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly output: JobOutput;
  /** Resolves when none of its processes is running. */
  readonly ended: Promise<void>;
  /** Milliseconds since the epoch; undefined while it runs. */
  endedAtMs: number | undefined;
  state: JobState = "running";
  exitCode: number | undefined;
  /** Such as `SIGKILL`, if that ended the command itself. */
  signal: string | undefined;
  /** True once the model was told that it has ended. */
  isEndKnown = false;
  /** The position up to which the model has seen the output. */
  shownBytes: number;
  private readonly rest: CommandRest;
  private isEnding = false;

  constructor(
    readonly id: string,
    { command, rest, output, startedAtMs = now(), isUnseen = false, isDetached = false }: JobStart,
  ) {
    this.command = command;
    this.startedAtMs = startedAtMs;
    this.rest = rest;
    this.output = output;
    this.isDetached = isDetached;
    this.shownBytes = isUnseen ? 0 : output.totalBytes;
    void rest.exited.then(({ exitCode, signal }) => {
      this.exitCode = exitCode ?? undefined;
      this.signal = signal ?? undefined;
    });
    this.ended = rest.ended.then(() => {
      this.state = this.isEnding ? "killed" : "ended";
      this.endedAtMs = now();
      output.close();
    });
  }

  get isRunning(): boolean {
    return this.state === "running";
  }

  toUpdate(): JobUpdate {
    const { id, state, command, exitCode } = this;
    return { id, state, command, ...(state === "ended" && exitCode !== undefined && { exitCode }) };
  }

  /** How it ended, or that it runs: `running`, `exit 1`, `killed`, `ended by SIGKILL`. */
  describeState(): string {
    if (this.state !== "ended") return this.state;
    return this.exitCode === undefined ? `ended by ${this.signal}` : `exit ${this.exitCode}`;
  }

  cpuTimeMs(): number {
    return this.isRunning ? this.rest.cpuTimeMs() : 0;
  }

  /** Ends all of its processes. @returns false if one of them could not be ended. */
  async end(): Promise<boolean> {
    if (!this.isRunning) return true;
    this.isEnding = true;
    if (!(await this.rest.end())) return false;
    await this.ended;
    return true;
  }
}
