import { now, type SerializableError, sleep } from "@diligent/core/run";
import type { OutputFormat, RunCommand } from "./arguments/command.ts";
import type { CliIo } from "./cli-io.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, RUN_EXIT_CODES, SIGNAL_EXIT_CODES } from "./exit-codes.ts";
import { IdleCleanup } from "./idle-cleanup.ts";
import { type OpenSession, openSession } from "./open-session.ts";
import type { RunOutput } from "./output/run-output.ts";
import { createTextOutput } from "./output/text.ts";
import { readPrompt } from "./read-prompt.ts";
import { applyEvent, createRunSummary, endSummary, type RunSummary } from "./run-summary.ts";
import { type SignalWatch, watchSignals } from "./signals.ts";
import { VERSION } from "./version.ts";
import { writeFailure } from "./write-line.ts";

const OUTPUTS: Readonly<Record<OutputFormat, (io: CliIo) => RunOutput | Promise<RunOutput>>> = {
  text: createTextOutput,
  json: async (io) => (await import("./output/json.ts")).createJsonOutput(io),
  "stream-json": async (io) => (await import("./output/stream-json.ts")).createStreamJsonOutput(io),
};

// An input that is empty says so at once.
const EMPTY_INPUT_MS = 20;

/**
 * One run without a screen; returns the exit code.
 * @throws UsageError when nothing was sent: no prompt, no key, an unknown model.
 */
export async function runPrint(command: RunCommand, io: CliIo): Promise<number> {
  const watch = watchSignals(io);
  try {
    const reading = readPrompt(command.prompt, io.stdin, watch.stop);
    // It may fail before it is waited for.
    reading.catch(() => {});
    const opened = await openSession(command, io, { approvalDefault: "deny" }).catch(async (error) => {
      // Said without waiting for a silent input, unless there turns out to be nothing to open a session for.
      await Promise.race([reading, sleep(EMPTY_INPUT_MS)]);
      throw error;
    });
    try {
      const parts = { opened, io, watch, format: command.options.outputFormat ?? "text" };
      return await runPrompt(await reading, parts);
    } finally {
      opened.close();
    }
  } catch (error) {
    // Stopped before there was a prompt: the signal is the reason, not the prompt that is missing.
    if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
    throw error;
  } finally {
    watch.dispose();
  }
}

interface RunParts {
  opened: OpenSession;
  io: CliIo;
  watch: SignalWatch;
  format: OutputFormat;
}

async function runPrompt(prompt: string, parts: RunParts): Promise<number> {
  const { io, watch } = parts;
  if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
  const summary = await runAndReport(prompt, parts);
  return toExitCode(summary, io, watch);
}

async function runAndReport(prompt: string, { opened, io, watch, format }: RunParts): Promise<RunSummary> {
  const { session, model, cwd, notices } = opened;
  const output = await OUTPUTS[format](io);
  const startedAt = performance.now();
  let summary = createRunSummary(model);
  const cleanup = new IdleCleanup();
  opened.noteInput(prompt);
  output.begin({ sessionId: session.sessionId, model: model.id, cwd, version: VERSION });
  for (const notice of notices) output.notice(notice);
  try {
    const signal = AbortSignal.any([watch.stop, io.stdout.closed]);
    // The prompt reaches the disk before anything else is tried: whoever sent the signal may not wait.
    watch.stop.addEventListener("abort", () => session.flush());
    const events = session.run({ role: "user", content: prompt, timestamp: now() }, { signal });
    const ended = events.consume((event) => {
      // A run that would not stop in time may still talk, but the result is the last word.
      if (summary.stopReason !== undefined) return;
      summary = applyEvent(summary, event);
      output.event(event);
      // Between two events it waits, for the model or for a command.
      cleanup.noteMovement(false);
      if (event.type === "tool_start") cleanup.noteCommand(event.toolName === "bash");
      if (event.type === "tool_end") cleanup.noteCommand(false);
    });
    await Promise.race([ended, watch.expired]);
    if (summary.stopReason === undefined) summary = endSummary(summary, "aborted");
  } catch (error) {
    summary = endSummary(summary, "error", toSerializable(error));
  } finally {
    cleanup.stop();
  }
  output.finish({ sessionId: session.sessionId, summary, durationMs: performance.now() - startedAt });
  return summary;
}

async function toExitCode(
  { stopReason = "error" }: RunSummary,
  io: CliIo,
  watch: SignalWatch,
): Promise<number> {
  await Promise.race([io.stdout.flush(), watch.expired]);
  if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
  if (io.stdout.failure) {
    writeFailure(io.stderr, `the answer could not be written: ${io.stdout.failure.message}`);
    return EXIT_FAILURE;
  }
  return io.stdout.closed.aborted ? EXIT_SUCCESS : RUN_EXIT_CODES[stopReason];
}

function toSerializable(error: unknown): SerializableError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  return { name: error.name, message: error.message };
}
