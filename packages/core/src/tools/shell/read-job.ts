import { createChildEnvironment } from "../../infrastructure/process/environment.ts";
import { runRipgrep } from "../../infrastructure/process/ripgrep.ts";
import { monotonicMs, sleep } from "../../infrastructure/runtime.ts";
import type { Job } from "../../jobs/job.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { JobOutputArguments } from "../job-tools.ts";
import type { Workspace } from "../workspace.ts";
import { CommandOutput } from "./output.ts";

const LOOK_EVERY_MS = 50;
const FILTER_EVERY_MS = 250;

interface ReadJobDeps {
  workspace: Workspace;
  signal: AbortSignal;
}

/**
 * What a job has printed since this was last asked for. With `wait_ms`, waits for the job's end, or with a filter also for
 * a line that matches. @throws Error for a filter that is no regular expression.
 */
export async function readJob(job: Job, args: JobOutputArguments, deps: ReadJobDeps): Promise<ToolResult> {
  const deadlineMs = monotonicMs() + (args.wait_ms ?? 0);
  const found = args.filter ? await waitForMatch(job, args.filter, deadlineMs, deps) : undefined;
  if (!args.filter) await waitForEnd(job, deadlineMs, deps.signal);
  const output = found ?? takeNew(job);
  if (!job.isRunning) job.isEndKnown = true;
  const text = output.finish().trimEnd();
  const nothing = args.filter ? "(no new line matches)" : "(no new output)";
  return {
    output: `${text || nothing}\n[${job.describeState()}]`,
    metadata: {
      jobId: job.id,
      jobState: job.state,
      ...(job.state === "ended" && job.exitCode !== undefined && { exitCode: job.exitCode }),
    },
  };
}

async function waitForEnd(job: Job, deadlineMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = deadlineMs - monotonicMs();
  if (!job.isRunning || leftMs <= 0) return;
  const done = new AbortController();
  await Promise.race([job.ended, sleep(leftMs, AbortSignal.any([signal, done.signal]))]);
  done.abort();
}

async function waitForMatch(
  job: Job,
  filter: string,
  deadlineMs: number,
  deps: ReadJobDeps,
): Promise<CommandOutput> {
  for (let seenBytes = -1; ; ) {
    const isEnded = !job.isRunning;
    const isLast = isEnded || deps.signal.aborted || monotonicMs() >= deadlineMs;
    if (job.output.totalBytes !== seenBytes || isLast) {
      seenBytes = job.output.totalBytes;
      const { output, hasMatches } = await takeMatching(job, filter, { ...deps, isWhole: isEnded });
      if (hasMatches || isLast) return output;
    }
    const pauseMs = Math.min(FILTER_EVERY_MS, Math.max(LOOK_EVERY_MS, deadlineMs - monotonicMs()));
    await Promise.race([job.ended, sleep(pauseMs, deps.signal)]);
  }
}

/** Output for a model that is kept already. */
function createOutput(job: Job): CommandOutput {
  const { path, shortfall } = job.output;
  return new CommandOutput(() =>
    path === undefined ? undefined : { path, shortfall, write: () => {}, close: () => {} },
  );
}

function takeNew(job: Job): CommandOutput {
  const output = createOutput(job);
  for (const { at, bytes } of job.output.read(job.shownBytes)) {
    if (at > job.shownBytes) output.add(Buffer.from(`[${at - job.shownBytes} bytes were not kept]\n`));
    output.add(Uint8Array.from(bytes));
    job.shownBytes = at + bytes.length;
  }
  return output;
}

/** @param options.isWhole false while the last line may still become longer: it is left for the next call. */
async function takeMatching(
  job: Job,
  filter: string,
  { workspace, signal, isWhole }: ReadJobDeps & { isWhole: boolean },
): Promise<{ output: CommandOutput; hasMatches: boolean }> {
  const output = createOutput(job);
  const from = job.shownBytes;
  let [end, lineEnd] = [from, from];
  for (const { at, bytes } of job.output.read(from)) {
    const last = bytes.lastIndexOf(NEWLINE);
    if (last !== -1) lineEnd = at + last + 1;
    end = at + bytes.length;
  }
  const to = isWhole ? end : lineEnd;
  let hasMatches = false;
  const search = await runRipgrep({
    args: ["--text", "--no-line-number", "--no-filename", "--color=never", "-e", filter, "-"],
    cwd: "/",
    environment: createChildEnvironment(workspace),
    search: { environment: workspace.environment, outside: workspace.root },
    signal,
    separator: "\n",
    input: streamOf(job, { from, to }),
    onRecord(record) {
      hasMatches = true;
      output.add(Buffer.from(`${record}\n`));
      return true;
    },
  });
  if (search.exitCode === 2) throw new Error(`The filter cannot be used: ${search.errors}`);
  job.shownBytes = to;
  return { output, hasMatches };
}

const NEWLINE = 0x0a;

function streamOf(job: Job, { from, to }: { from: number; to: number }): ReadableStream<Uint8Array> {
  const pieces = job.output.read(from)[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = pieces.next();
      if (done || value.at >= to) return controller.close();
      controller.enqueue(Uint8Array.from(value.bytes.subarray(0, to - value.at)));
    },
  });
}
