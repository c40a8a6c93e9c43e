import { createThrottle } from "../../infrastructure/async.ts";
import { createChildEnvironment, resolveExecutable } from "../../infrastructure/process/environment.ts";
import { SpoolFile } from "../../infrastructure/process/output-file.ts";
import { type CommandEnd, runCommand } from "../../infrastructure/process/run.ts";
import type { ShellCommand, WrappedCommand } from "../../infrastructure/process/shell-wrapper.ts";
import { monotonicMs } from "../../infrastructure/runtime.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { BashArguments } from "../bash.ts";
import type { Workspace } from "../workspace.ts";
import { CommandOutput } from "./output.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const UPDATE_INTERVAL_MS = 100;
const MAX_ATTEMPTS = 3;

// Linux accepts arguments of at most 32 pages, including the closing NUL.
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/** Runs one command to its end, its timeout or an abort. @throws Error when it cannot be started. */
export async function runShell(
  args: BashArguments,
  workspace: Workspace,
  context: ToolContext,
): Promise<ToolResult> {
  if (context.signal.aborted) throw new Error("Interrupted before the command was started.");
  refuseUnrunnable(args.command);
  const command = {
    argv: [findShell(workspace), "-c", args.command],
    cwd: workspace.cwd,
    environment: createChildEnvironment(workspace),
    writtenFiles: () => workspace.files.findAsWritten(),
  };
  const run = { command, context, workspace, timeoutMs: args.timeout ?? DEFAULT_TIMEOUT_MS };
  const notes: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const wrapped = await wrapForSandbox(command, args, workspace);
    if (wrapped === undefined) return runOutside(run);
    const { end, output, durationMs } = await runSandboxed({ ...run, wrapped });
    const text = output.finish().trimEnd();
    const failure = attempt < MAX_ATTEMPTS && !end.hasBegun ? wrapped.findFailure(text) : undefined;
    if (failure === undefined || context.signal.aborted)
      return toResult({ ...run, end, output, durationMs, text, wrapped, notes });
    if (failure === "processes") await wrapped.endSession?.(`there was no room for one more (${text})`);
    // Protected files removed from background processes are reported in any case.
    notes.push(...wrapped.finish(end).notes);
  }
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
  command: ShellCommand;
  context: ToolContext;
  workspace: Workspace;
  timeoutMs: number;
  wrapped?: WrappedCommand | undefined;
}

interface RunEnd {
  end: CommandEnd;
  output: CommandOutput;
  durationMs: number;
}

async function runOutside(run: Run): Promise<ToolResult> {
  const finishOutside = await leaveSandbox(run.workspace);
  try {
    const done = await runOnce(run);
    return toResult({
      ...run,
      ...done,
      text: done.output.finish().trimEnd(),
      notes: finishOutside?.() ?? [],
    });
  } catch (error) {
    finishOutside?.();
    throw error;
  }
}

async function runOnce({ command, context, workspace, timeoutMs, wrapped }: Run): Promise<RunEnd> {
  const output = new CommandOutput(() => openSpool(workspace, context.toolCallId));
  const updates = createThrottle(() => context.onUpdate?.(output.latest()), UPDATE_INTERVAL_MS);
  const begin = monotonicMs();
  try {
    const end = await runCommand({
      ...(wrapped ?? command),
      cwd: workspace.cwd,
      timeoutMs,
      signal: context.signal,
      onOutput(chunk) {
        output.add(chunk);
        if (context.onUpdate) updates.request();
      },
    });
    return { end, output, durationMs: Math.round(monotonicMs() - begin) };
  } finally {
    updates.stop();
  }
}

/** The command wrapped for the sandbox; undefined if it runs unsandboxed. @throws Error if it may not run. */
async function wrapForSandbox(
  command: ShellCommand,
  { outside_sandbox: outsideSandbox }: BashArguments,
  { sandboxState }: Workspace,
): Promise<WrappedCommand | undefined> {
  const state = await sandboxState?.();
  if (state === undefined || state.kind === "open") return undefined;
  if (state.kind === "refused") {
    throw new Error(
      `Not run: the user's settings require a sandbox for every command, and ${state.problem}.`,
    );
  }
  if (!outsideSandbox) return state.wrapper.wrapCommand(command);
  if (state.mayLeave) return undefined;
  throw new Error("Not run: the user's settings do not allow commands outside the sandbox.");
}

async function leaveSandbox({ sandboxState }: Workspace): Promise<(() => readonly string[]) | undefined> {
  const state = await sandboxState?.();
  return state?.kind === "boxed" ? state.wrapper.leave() : undefined;
}

function refuseUnrunnable(command: string): void {
  if (command.includes("\0"))
    throw new Error("The command contains a NUL character, which cannot be passed to a program.");
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new Error(
      `The command has ${bytes} bytes; the system takes at most ${MAX_COMMAND_BYTES}. Write it to a file and run that.`,
    );
  }
}

function findShell({ environment, root }: Workspace): string {
  const find = (name: string) => resolveExecutable(name, { environment, outside: root });
  const shell = find("bash") ?? find("sh");
  if (shell === undefined) throw new Error("There is neither bash nor sh in PATH outside the project.");
  return shell;
}

function openSpool(workspace: Workspace, toolCallId: string): SpoolFile | undefined {
  const directory = workspace.outputDirectory();
  return directory === undefined ? undefined : SpoolFile.create(directory, toolCallId);
}

interface Circumstances extends RunEnd {
  timeoutMs: number;
  text: string;
  wrapped?: WrappedCommand | undefined;
  /** Notes about a command outside the sandbox, or about earlier attempts. */
  notes: readonly string[];
}

function toResult({
  end,
  output,
  text,
  timeoutMs,
  durationMs,
  wrapped,
  notes: otherNotes,
}: Circumstances): ToolResult {
  const isError = end.cause !== "exit" || end.exitCode !== 0;
  const explanation = wrapped?.explain(text, isError);
  const notes = [
    ...describeEnd(end, timeoutMs),
    ...(explanation === undefined ? [] : [explanation]),
    ...(wrapped?.finish(end).notes ?? []),
    ...otherNotes,
  ];
  return {
    output: [text || "(no output)", ...notes.map((note) => `[${note}]`)].join("\n"),
    isError,
    metadata: {
      exitCode: end.exitCode,
      ...(end.signal !== null && { signal: end.signal }),
      durationMs,
      ...(wrapped && { sandboxed: true }),
      ...(output.path !== undefined && { outputPath: output.path }),
    },
  };
}

function describeEnd({ cause, exitCode, signal, survivors }: CommandEnd, timeoutMs: number): string[] {
  if (cause === "exit") {
    const background = survivors ? ["a background process it started is still running"] : [];
    if (signal !== null) return [`ended by ${signal}`, ...background];
    return exitCode === 0 ? background : [`exit code ${exitCode}`, ...background];
  }
  const reason = cause === "timeout" ? `timed out after ${timeoutMs} ms` : "interrupted";
  return [survivors ? `${reason}; a process it started is still running` : `${reason}; process group killed`];
}
