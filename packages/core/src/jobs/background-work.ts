import type { Job } from "./job.ts";
import type { JobOutput } from "./job-output.ts";
import type { SessionJobs } from "./session-jobs.ts";

/** Work that is not a command, such as a sub-agent's: its report is the output of its job. */
export interface BackgroundWork {
  /** What lists of jobs show as its command. */
  title: string;
  /** Rejects only with an Error, whose message is then the report. */
  report: Promise<{ text: string; isError: boolean }>;
  /** Asks it to end. */
  stop(): void;
  /** True if it ended because of `stop`. */
  isStopped(): boolean;
}

/** Lets the work continue as a job. @throws Error, for the model, if the limit of jobs is reached. */
export function addBackgroundWork(jobs: SessionJobs, work: BackgroundWork): Job {
  jobs.assertRoom();
  const output = new BackgroundReport();
  const ended = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<{ exitCode: number | null; signal: string | null }>();
  const job = jobs.add({
    command: work.title,
    output,
    isUnseen: true,
    rest: {
      exited: exited.promise,
      ended: ended.promise,
      async end() {
        work.stop();
        await ended.promise;
        return true;
      },
      cpuTimeMs: () => 0,
      release() {},
    },
  });
  void work.report
    .catch((error: unknown) => ({
      text: error instanceof Error ? error.message : String(error),
      isError: true,
    }))
    .then(({ text, isError }) => {
      output.set(text);
      exited.resolve({ exitCode: isError ? 1 : 0, signal: work.isStopped() ? "SIGTERM" : null });
      ended.resolve();
    });
  return job;
}

/** The output of work in the background: its report, once it has ended. */
class BackgroundReport implements JobOutput {
  readonly path = undefined;
  readonly shortfall = undefined;
  private bytes = new Uint8Array();

  get totalBytes(): number {
    return this.bytes.length;
  }

  set(report: string): void {
    this.bytes = new TextEncoder().encode(report);
  }

  read(from: number): Iterable<{ at: number; bytes: Uint8Array }> {
    return [{ at: from, bytes: this.bytes.subarray(from) }];
  }

  /** Empty: the notice of its end is not the place for text of others, which only a result contains. */
  lastLine(): string {
    return "";
  }

  close(): void {}

  remove(): void {
    this.bytes = new Uint8Array();
  }
}
