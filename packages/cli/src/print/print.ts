import type { AskPerson, ProjectSession } from "@diligent/core/harness";
import {
  type AgentEvent,
  type ContentBlock,
  now,
  promptText,
  type SerializableError,
  sleep,
} from "@diligent/core/run";
import type { OutputFormat, RunCommand } from "../arguments/command.ts";
import {
  describeError,
  EXIT_EVIDENCE,
  EXIT_FAILURE,
  EXIT_SUCCESS,
  EXIT_USAGE,
  RUN_EXIT_CODES,
  SIGNAL_EXIT_CODES,
  UsageError,
} from "../errors.ts";
import { type CliInput, type CliIo, type SignalName, writeFailure, writeLine } from "../io/io.ts";
import { IdleCleanup } from "../io/memory.ts";
import { expandToContent, useCommandModel } from "../session/expand-prompt.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { startSession } from "../session/start-session.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { VERSION } from "../version.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import { createTextOutput, type RunOutput, type StreamJsonOutput } from "./output.ts";
import type { StreamInput } from "./stream-input.ts";
import {
  addEventToSummary,
  createRunSummary,
  endSummary,
  type RunSummary,
  reopenSummary,
} from "./summary.ts";

const OUTPUTS: Readonly<Record<OutputFormat, (io: CliIo) => RunOutput | Promise<RunOutput>>> = {
  text: createTextOutput,
  json: async (io) => (await import("./output.ts")).createJsonOutput(io),
  "stream-json": async (io) => (await import("./output.ts")).createStreamJsonOutput(io),
};

// Empty input is detected immediately.
const EMPTY_INPUT_MS = 20;

/**
 * One run without a screen; returns the exit code.
 * @throws UsageError if nothing was sent: no prompt, no key, an unknown model.
 */
export async function runPrint(command: RunCommand, io: CliIo): Promise<number> {
  const watch = watchSignals(io);
  try {
    const { options, prompt: words = "" } = command;
    const input = options.inputFormat === "stream-json" ? await openStreamInput(command) : undefined;
    const reading = input ? Promise.resolve("") : readPrompt(command.prompt, io.stdin, watch.stop);
    // It may fail before anyone awaits it.
    reading.catch(() => {});
    const programs = await openPrograms(command, io, watch.stop);
    // In the mode deny there is nobody to ask, as without these programs.
    const asker = options.approval === "deny" ? undefined : (programs.ask ?? input?.ask);
    const opened = await startSession(programs.command, io, {
      approvalDefault: asker ? "ask" : "deny",
      ...(asker && { ask: asker }),
      askUser: input?.askUser,
      isWatched: false,
    }).catch(async (error) => {
      // Reported without waiting for silent input, unless no session can be opened anyway.
      await Promise.race([reading, sleep(EMPTY_INPUT_MS)]);
      throw error;
    });
    try {
      const { command: _, ...parts } = programs;
      const deps = { ...parts, opened, io, watch, words, format: options.outputFormat ?? "text" };
      return await (input ? runStream(input, deps) : runPrompt(await reading, deps));
    } finally {
      opened.close();
    }
  } catch (error) {
    // Stopped before there was a prompt: report the signal, not the missing prompt.
    if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
    throw error;
  } finally {
    watch.dispose();
  }
}

/** There is no one to choose from a list, so the most recent session is used. */
function withoutList({ resumption, ...command }: RunCommand): RunCommand {
  const { opensList: _, ...known } = resumption ?? { how: "continue" as const };
  return resumption ? { ...command, resumption: known } : command;
}

/** The programs that take part in a run, besides the model. */
interface Programs {
  /** With the options that they need. */
  command: RunCommand;
  ask?: AskPerson;
  /** Receives every event of the run. */
  noteEvent?: (event: AgentEvent) => void;
  schema?: AnswerSchema;
}

/** @throws UsageError for a schema that cannot be used. */
async function openPrograms(given: RunCommand, io: CliIo, stop: AbortSignal): Promise<Programs> {
  const command = withoutList(given);
  const { jsonSchema, permissionPrompt, directory, appendSystemPrompt = "" } = command.options;
  const programs: Programs = { command };
  if (permissionPrompt !== undefined) {
    const { PermissionCommand } = await import("@diligent/core/interactive");
    const cwd = resolveDirectory(directory, io.cwd);
    const prompt = new PermissionCommand(permissionPrompt, { cwd, environment: io.environment, stop });
    programs.ask = prompt.ask;
    programs.noteEvent = (event) => prompt.noteEvent(event);
  }
  if (jsonSchema === undefined) return programs;
  const { readAnswerSchema } = await import("./answer-schema.ts");
  const schema = await readAnswerSchema(jsonSchema, resolveDirectory(directory, io.cwd));
  const instructions = [appendSystemPrompt, schema.instruction].filter((text) => text !== "").join("\n\n");
  const options = { ...command.options, appendSystemPrompt: instructions };
  return { ...programs, schema, command: { ...command, options } };
}

/** What runs prompts and reports about them. */
interface ReportDeps extends Pick<Programs, "noteEvent" | "schema"> {
  opened: ProjectSession;
  io: CliIo;
  watch: SignalWatch;
  /** Limits that hold for further sessions, too; those of this session when left out. */
  budget?: ReturnType<ProjectSession["createBudget"]>;
}

interface RunDeps extends ReportDeps {
  /** The part of the prompt that is from the arguments: only there is a command one. */
  words: string;
  format: OutputFormat;
}

async function runPrompt(prompt: string, deps: RunDeps): Promise<number> {
  const { io, watch } = deps;
  if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
  const expanded = await expandPrompt(prompt, deps);
  if ("kind" in expanded) {
    writeLine(io.stdout, sanitizeTerminalText(expanded.text));
    return EXIT_SUCCESS;
  }
  const notes = [...expanded.notes];
  await useCommandModel(deps.opened, expanded.model, (text) => notes.push(text));
  const output = await OUTPUTS[deps.format](io);
  const summary = await runAndReport([{ prompt, content: expanded.content, notes }], output, deps);
  return toExitCode(summary, io, watch);
}

/** @throws UsageError for an output that could not carry the questions. */
async function openStreamInput({ options, prompt }: RunCommand): Promise<StreamInput> {
  const { outputFormat = "stream-json" } = options;
  if (outputFormat !== "stream-json")
    throw new UsageError(`--input-format stream-json needs --output-format stream-json, not ${outputFormat}`);
  const { StreamInput } = await import("./stream-input.ts");
  const input = new StreamInput();
  if (prompt !== undefined && prompt.trim() !== "") input.add(prompt);
  return input;
}

/** Runs the prompts of the input; without any, nothing is sent. */
async function runStream(input: StreamInput, deps: RunDeps): Promise<number> {
  const { opened, io, watch } = deps;
  const output = (await import("./output.ts")).createStreamJsonOutput(io);
  const { session } = opened;
  const summary = await runAndReport(streamPrompts(input, output, deps), output, {
    ...deps,
    noteEvent(event) {
      input.noteEvent(event);
      deps.noteEvent?.(event);
    },
    onBegin: () =>
      input.start(io.stdin.stream(), {
        write: (line) => output.line(line),
        steer: (content) => session.steer(content),
        takeBack: () => void session.takeBack("all"),
      }),
  });
  const code = await toExitCode(summary, io, watch);
  return summary.error === NO_PROMPT ? EXIT_USAGE : code;
}

/** Commands are expanded; one that has nothing to send is answered at once. */
async function* streamPrompts(
  input: StreamInput,
  output: StreamJsonOutput,
  { opened, io, watch }: RunDeps,
): AsyncGenerator<SentPrompt> {
  for await (const { content, signal } of input.prompts(AbortSignal.any([watch.stop, io.stdout.closed]))) {
    if (typeof content !== "string") {
      yield { prompt: promptText({ content }), content, notes: [], signal };
      continue;
    }
    try {
      const expanded = await expandToContent(content, { opened, signal, source: "given" });
      if ("kind" in expanded) {
        output.notice({ level: "info", code: "command", message: expanded.text });
        continue;
      }
      const notes = [...expanded.notes];
      const restore = await useCommandModel(opened, expanded.model, (text) => notes.push(text));
      yield { prompt: content, content: expanded.content, notes, signal };
      await restore();
    } catch (error) {
      output.line({ type: "input_error", message: describeError(error) });
    }
  }
}

/** Piped input comes from others: a command is only what the arguments begin with. */
async function expandPrompt(prompt: string, { opened, watch, words }: RunDeps) {
  if (words.trim() === "") {
    opened.redactor.noteForeign(prompt);
    return { content: prompt, notes: [], model: undefined };
  }
  const before = prompt.slice(0, prompt.length - words.length);
  return expandToContent(words, { opened, signal: watch.stop, before, source: "given" });
}

/** What the user wrote, and what is sent for it. */
interface SentPrompt {
  /** Left out if the user wrote nothing that could be entered again. */
  prompt?: string;
  content: string | ContentBlock[];
  /** Lines about its attachments. */
  notes: readonly string[];
  /** Stops this prompt only. */
  signal?: AbortSignal;
}

const NO_PROMPT: SerializableError = { name: "UsageError", message: "the input contains no prompt" };

/** Runs the prompts one after the other and reports all of them as one run, whose end is that of the last prompt. */
export async function runAndReport(
  prompts: AsyncIterable<SentPrompt> | Iterable<SentPrompt>,
  output: RunOutput,
  deps: ReportDeps & { onBegin?: () => void },
): Promise<RunSummary> {
  const { opened, io, watch } = deps;
  const { session, model, cwd, notices } = opened;
  const startedAt = performance.now();
  let summary = createRunSummary(model);
  const cleanup = new IdleCleanup();
  const stop = AbortSignal.any([watch.stop, io.stdout.closed]);
  // The prompt is saved before anything else: the sender of the signal may not wait.
  watch.stop.addEventListener("abort", () => session.flush());
  const budget = deps.budget ?? opened.createBudget();
  output.begin({ sessionId: session.sessionId, model: model.id, cwd, version: VERSION });
  for (const notice of notices) output.notice(notice);
  deps.onBegin?.();
  const run = async (content: SentPrompt["content"], signal: AbortSignal) => {
    summary = reopenSummary(summary);
    const events = session.run({ role: "user", content, timestamp: now() }, { signal, budget });
    const ended = events.consume((event) => {
      // A run that does not stop in time may still emit events, but the result comes last.
      if (summary.stopReason !== undefined) return;
      summary = addEventToSummary(summary, event);
      output.event(event);
      deps.noteEvent?.(event);
      // Idle between two events: it waits for the model or a command.
      cleanup.noteMovement(false);
      if (event.type === "tool_start") cleanup.noteCommand(event.toolName === "bash");
      if (event.type === "tool_end") cleanup.noteCommand(false);
    });
    await Promise.race([ended, watch.expired]);
    if (summary.stopReason === undefined) summary = endSummary(summary, "aborted");
    return summary;
  };
  try {
    for await (const { prompt, content, notes, signal: own } of prompts) {
      if (prompt !== undefined) opened.noteInput(prompt);
      for (const message of notes) output.notice({ level: "info", code: "command", message });
      const signal = own ? AbortSignal.any([stop, own]) : stop;
      budget.beginPrompt();
      await run(content, signal);
      if (deps.schema) summary = await deps.schema.complete(summary, (question) => run(question, signal));
      if (stop.aborted) break;
    }
    if (summary.stopReason === undefined)
      summary = stop.aborted ? endSummary(summary, "aborted") : endSummary(summary, "error", NO_PROMPT);
    await Promise.race([endJobs(opened, output), watch.expired]);
  } catch (error) {
    summary = endSummary(summary, "error", toSerializable(error));
  } finally {
    cleanup.stop();
  }
  output.finish({ sessionId: session.sessionId, summary, durationMs: performance.now() - startedAt });
  return summary;
}

/** Nobody waits for commands in the background: they end with the run. */
async function endJobs({ jobs, redactor }: ProjectSession, output: RunOutput): Promise<void> {
  const unsubscribe = jobs.subscribe((update) =>
    output.event(redactor.redact({ type: "job_update", ...update })),
  );
  await jobs.endAll();
  unsubscribe();
}

/** The exit code of a run; resolves when stdout is written. */
export async function toExitCode(
  { stopReason = "error", evidence }: RunSummary,
  io: CliIo,
  watch: SignalWatch,
): Promise<number> {
  await Promise.race([io.stdout.flush(), watch.expired]);
  if (watch.received) return SIGNAL_EXIT_CODES[watch.received];
  if (io.stdout.failure) {
    writeFailure(io.stderr, `the answer could not be written: ${io.stdout.failure.message}`);
    return EXIT_FAILURE;
  }
  if (io.stdout.closed.aborted) return EXIT_SUCCESS;
  const code = RUN_EXIT_CODES[stopReason];
  return code === EXIT_SUCCESS && evidence?.lacking?.length ? EXIT_EVIDENCE : code;
}

function toSerializable(error: unknown): SerializableError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  return { name: error.name, message: error.message };
}

/** A larger prompt would exceed every model's context window. */
const MAX_INPUT_MEGABYTES = 10;
const MAX_INPUT_BYTES = MAX_INPUT_MEGABYTES * 1024 * 1024;

// A pipe left open by someone, as cron jobs and editors do, must not block a prompt from the arguments.
const SILENCE_MS = 2000;

/**
 * The prompt in print mode: piped input, followed by the arguments. If the arguments contain a prompt, input that stays
 * silent for 2 s is ignored; once it has started it is read to its end, 10 MB at most.
 * @param words the prompt in the arguments.
 * @throws UsageError without a prompt, or for input that is too large or unreadable.
 */
export async function readPrompt(
  words: string | undefined,
  stdin: CliInput,
  stop: AbortSignal,
): Promise<string> {
  const patienceMs = words === undefined ? undefined : SILENCE_MS;
  const piped = stdin.isTerminal ? "" : await readPiped(stdin, { patienceMs, stop });
  const prompt = [piped.trimEnd(), words ?? ""].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") throw new UsageError('the prompt is empty: diligent -p "what to do"');
  return prompt;
}

interface ReadOptions {
  /** Time limit for the first byte; without it, waits until the end of the input. */
  patienceMs: number | undefined;
  stop: AbortSignal;
}

async function readPiped(stdin: CliInput, { patienceMs, stop }: ReadOptions): Promise<string> {
  try {
    return await readAll(stdin.stream(), { patienceMs, stop });
  } catch (error) {
    // A directory or a closed descriptor as stdin contains no text; with a prompt in the arguments that does not
    // matter.
    if (error instanceof UsageError || patienceMs === undefined) throw toUsageError(error);
    return "";
  }
}

async function readAll(stream: ReadableStream<Uint8Array>, options: ReadOptions): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const stopped = untilAborted(options.stop);
  let text = "";
  let bytes = 0;
  let chunk = await Promise.race([stopped, withinGrace(reader.read(), options)]);
  while (chunk && !chunk.done) {
    bytes += chunk.value.length;
    if (bytes > MAX_INPUT_BYTES) throw new UsageError(`the input is larger than ${MAX_INPUT_MEGABYTES} MB`);
    text += decoder.decode(chunk.value, { stream: true });
    chunk = await Promise.race([stopped, reader.read()]);
  }
  // Not awaited: closing silent input may take long, too.
  reader.cancel().catch(() => {});
  return text + decoder.decode();
}

/** The value of `first`, or undefined if it takes too long. */
async function withinGrace<T>(first: Promise<T>, { patienceMs, stop }: ReadOptions): Promise<T | undefined> {
  if (patienceMs === undefined) return first;
  const arrived = new AbortController();
  const chunk = await Promise.race([first, sleep(patienceMs, AbortSignal.any([stop, arrived.signal]))]);
  arrived.abort();
  return chunk ?? undefined;
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function toUsageError(error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  return new UsageError(`cannot read the input: ${describeError(error)}`);
}

// A command's process group gets a second between TERM and KILL; a program should end within two seconds of a signal.
const STOP_GRACE_MS = 1300;
const EXIT_GRACE_MS = 400;

/** How signals affect a run in print mode. */
export interface SignalWatch {
  /** Aborted by the first signal: the run should end cleanly. */
  readonly stop: AbortSignal;
  /** Resolves when waiting must end: on the second signal, or some time after the first. */
  readonly expired: Promise<void>;
  /** The first signal received. */
  readonly received: SignalName | undefined;
  /** Stops watching. After a signal the program still ends in time, even if something hangs. */
  dispose(): void;
}

/** Watches for the signals that end a run. */
export function watchSignals(io: Pick<CliIo, "onSignal" | "exit">): SignalWatch {
  const stop = new AbortController();
  const expired = Promise.withResolvers<void>();
  let received: SignalName | undefined;
  const expire = (code: number) => {
    expired.resolve();
    setTimeout(() => io.exit(code), EXIT_GRACE_MS);
  };
  const unsubscribe = io.onSignal((signal) => {
    const isFirst = received === undefined;
    received ??= signal;
    const code = SIGNAL_EXIT_CODES[received];
    if (!isFirst) return expire(code);
    setTimeout(() => expire(code), STOP_GRACE_MS);
    stop.abort();
  });
  return {
    stop: stop.signal,
    expired: expired.promise,
    get received() {
      return received;
    },
    dispose: unsubscribe,
  };
}
