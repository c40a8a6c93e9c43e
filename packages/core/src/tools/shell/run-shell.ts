import { createThrottle } from "../../infrastructure/async.ts";
import { OutputFile } from "../../infrastructure/process/output-file.ts";
import { type CommandEnd, type CommandRest, runCommand } from "../../infrastructure/process/run.ts";
import type { ShellCommand, WrappedCommand } from "../../infrastructure/process/shell-wrapper.ts";
import { monotonicMs, now } from "../../infrastructure/runtime.ts";
import type { Job } from "../../jobs/job.ts";
import { CollectedOutput } from "../../jobs/job-output.ts";
import { createHostQuestion } from "../../tool/host-question.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { BashArguments } from "../bash.ts";
import type { Workspace } from "../workspace.ts";
import { CommandOutput } from "./output.ts";
import { describeKeptPlaceholders, toShellCommand } from "./shell-command.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const UPDATE_INTERVAL_MS = 100;
// After that many failures for the same reason a sandbox cannot be made.
const MAX_SAME_FAILURES = 3;
// Sockets of other programs, each of which is hidden, come and go while a sandbox is being made.
const MAX_FAILURES = 10;
// Whether the sandbox of a command in the background could be made is known by then, also on a busy machine.
const START_MS = 100;

/**
 * Runs one command to its end, its timeout or an abort, or makes a job of it. @throws Error when it cannot be started.
 */
export async function runShell(
  args: BashArguments,
  workspace: Workspace,
  context: ToolContext,
): Promise<ToolResult> {
  if (context.signal.aborted) throw new Error("Interrupted before the command was started.");
  if (args.detach) return (await import("./run-detached.ts")).runDetached(args, workspace, context);
  const askForHost = createHostQuestion(context);
  const access = await workspace.protectedAccess?.();
  const command = { ...toShellCommand(args.command, workspace, context), access, askForHost };
  const isBackground = args.background === true && workspace.jobs !== undefined;
  if (isBackground) workspace.jobs?.assertRoom();
  const timeoutMs = isBackground ? START_MS : (args.timeout ?? DEFAULT_TIMEOUT_MS);
  const kept = context.insertsSecrets ? undefined : describeKeptPlaceholders(args.command, workspace);
  const remarks = kept === undefined ? [] : [kept];
  const run = { args, command, context, workspace, timeoutMs, isBackground, remarks };
  const notes = [...remarks];
  const failures: string[] = [];
  for (;;) {
    const wrapped = await wrapForSandbox(command, args, workspace);
    if (wrapped === undefined) return runOutside(run);
    const done = await runSandboxed({ ...run, wrapped });
    const isFailed = !done.end.hasBegun && !done.job?.isRunning;
    const failure = isFailed ? wrapped.findFailure(done.text) : undefined;
    failures.push(done.text);
    const isLast = failures.length === MAX_FAILURES || countSame(failures) === MAX_SAME_FAILURES;
    if (failure === undefined || isLast || context.signal.aborted)
      return toResult({ ...run, ...done, wrapped, notes });
    if (failure === "processes") await wrapped.endSession?.(`there was no room for one more (${done.text})`);
    // Protected files removed from background processes are reported in any case.
    notes.push(...wrapped.finish(done.end).notes);
    if (done.job) workspace.jobs?.forget(done.job);
  }
}

/** How many are like the last one. */
function countSame(failures: readonly string[]): number {
  return failures.filter((text) => text === failures.at(-1)).length;
}

async function runSandboxed(run: Run & { wrapped: WrappedCommand }): Promise<RunEnd> {
  try {
    return await runOnce(run);
  } catch (error) {
    run.wrapped.abandon();
    throw error;
  }
}

interface Run {
  args: BashArguments;
  command: ShellCommand;
  context: ToolContext;
  workspace: Workspace;
  timeoutMs: number;
  /** It becomes a job at once. */
  isBackground: boolean;
  /** For the model, whatever comes of it. */
  remarks: readonly string[];
  wrapped?: WrappedCommand | undefined;
}

interface RunEnd {
  end: CommandEnd;
  /** The output so far, for the model. */
  text: string;
  outputPath: string | undefined;
  durationMs: number;
  /** What it has become, if it runs in the background. */
  job?: Job | undefined;
}

async function runOutside(run: Run): Promise<ToolResult> {
  const finishOutside = await leaveSandbox(run.workspace);
  try {
    const done = await runOnce(run);
    return toResult({ ...run, ...done, notes: [...run.remarks, ...(finishOutside?.() ?? [])] });
  } catch (error) {
    finishOutside?.();
    throw error;
  }
}

async function runOnce({
  args,
  command,
  context,
  workspace,
  timeoutMs,
  isBackground,
  wrapped,
}: Run): Promise<RunEnd> {
  const { jobs } = workspace;
  const output = new CommandOutput(() => openOutputFile(workspace, context.toolCallId));
  const updates = createThrottle(() => context.onUpdate?.(output.latest()), UPDATE_INTERVAL_MS);
  const foreground = isBackground ? undefined : jobs?.enterForeground();
  const begin = monotonicMs();
  let receive = (chunk: Uint8Array) => {
    output.add(chunk);
    if (context.onUpdate) updates.request();
  };
  try {
    const end = await runCommand({
      ...(wrapped ?? command),
      cwd: workspace.cwd,
      timeoutMs,
      signal: context.signal,
      leave: foreground?.leave,
      outlivesTimeout: isBackground || (args.on_timeout === "background" && jobs?.hasRoom === true),
      onOutput: (chunk) => receive(chunk),
    });
    const durationMs = Math.round(monotonicMs() - begin);
    const rest = end.rest ?? (isBackground ? toEndedRest(end) : undefined);
    if (
      jobs === undefined ||
      rest === undefined ||
      !(end.cause === "leave" || isBackground || jobs.hasRoom)
    ) {
      rest?.release();
      return { end, text: output.finish().trimEnd(), outputPath: output.path, durationMs };
    }
    const { text, kept, end: lastBytes, totalBytes } = output.handOver();
    const collected = new CollectedOutput(kept, { end: lastBytes, totalBytes });
    receive = (chunk) => collected.add(chunk);
    const job = jobs.add({
      command: args.command,
      rest,
      output: collected,
      startedAtMs: now() - durationMs,
      isUnseen: isBackground,
    });
    return { end, text: text.trimEnd(), outputPath: kept?.path, durationMs, job };
  } finally {
    foreground?.done();
    updates.stop();
  }
}

/** A command that ended while it was being started in the background still becomes a job. */
function toEndedRest({ exitCode, signal }: CommandEnd): CommandRest {
  return {
    exited: Promise.resolve({ exitCode, signal }),
    ended: Promise.resolve(),
    end: async () => true,
    cpuTimeMs: () => 0,
    release: () => {},
  };
}

/** The command wrapped for the sandbox; undefined if it runs unsandboxed. @throws Error if it may not run. */
async function wrapForSandbox(
  command: ShellCommand,
  { command: line, outside_sandbox: outsideSandbox }: BashArguments,
  { sandboxState, noteUnseen }: Workspace,
): Promise<WrappedCommand | undefined> {
  const state = await sandboxState?.();
  if (state === undefined || state.kind === "open") {
    noteUnseen?.({ purpose: "command" });
    return undefined;
  }
  if (state.kind === "refused") {
    throw new Error(
      `Not run: the user's settings require a sandbox for every command, and ${state.problem}.`,
    );
  }
  if (!outsideSandbox) return state.wrapper.wrapCommand(command);
  if (state.mayLeave) {
    noteUnseen?.({ purpose: "command", command: line });
    return undefined;
  }
  throw new Error("Not run: the user's settings do not allow commands outside the sandbox.");
}

async function leaveSandbox({ sandboxState }: Workspace): Promise<(() => readonly string[]) | undefined> {
  const state = await sandboxState?.();
  return state?.kind === "boxed" ? state.wrapper.leave() : undefined;
}

function openOutputFile(workspace: Workspace, toolCallId: string): OutputFile | undefined {
  const directory = workspace.outputDirectory();
  return directory === undefined ? undefined : OutputFile.create(directory, toolCallId);
}

interface Circumstances extends Run, RunEnd {
  /** Leftovers of a command outside the sandbox, or of earlier attempts. */
  notes: readonly string[];
}

function toResult(done: Circumstances): ToolResult {
  const { end, text, durationMs, outputPath, job, wrapped, isBackground } = done;
  // What has become a job tells its end later.
  const isLeft = end.cause === "leave" || (isBackground && job !== undefined);
  const isError = !isLeft && (end.cause !== "exit" || end.exitCode !== 0);
  const explanation = isLeft ? undefined : wrapped?.explain(text, isError);
  const notes = [
    ...describeEnd(done),
    ...(explanation === undefined ? [] : [explanation]),
    ...(wrapped?.finish(end).notes ?? []),
    ...done.notes,
  ];
  const shown = isBackground && job ? `Started job ${job.id}` : text || "(no output)";
  return {
    output: [shown, ...notes.map((note) => `[${note}]`)].join("\n"),
    isError,
    metadata: {
      ...(!isLeft && { exitCode: end.exitCode, ...(end.signal !== null && { signal: end.signal }) }),
      durationMs,
      ...(job && { jobId: job.id }),
      ...(wrapped && { sandboxed: true }),
      ...(outputPath !== undefined && { outputPath }),
    },
  };
}

function describeEnd({ end, timeoutMs, job, isBackground }: Circumstances): string[] {
  const { cause, exitCode, signal, survivors, hasEndedSession } = end;
  if (isBackground && job) return [];
  if (cause === "leave") {
    const why = end.isLate
      ? `still running after ${timeoutMs} ms`
      : "the user continues without waiting for it";
    return [`${why}. Moved to the background as job ${job?.id}`];
  }
  if (cause === "exit") {
    const name = job === undefined ? "" : `: job ${job.id}`;
    const background = survivors ? [`a background process it started is still running${name}`] : [];
    if (signal !== null) return [`ended by ${signal}`, ...background];
    return exitCode === 0 ? background : [`exit code ${exitCode}`, ...background];
  }
  const reason = cause === "timeout" ? `timed out after ${timeoutMs} ms` : "interrupted";
  if (hasEndedSession)
    return [`${reason}; it could be ended only with all processes of this session, jobs included`];
  return [survivors ? `${reason}; a process it started is still running` : `${reason}; process group killed`];
}
