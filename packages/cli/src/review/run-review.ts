import { loadConfig, type ProjectSession } from "@diligent/core/harness";
import {
  CHANGE_REVIEWER,
  type Changes,
  checkFindings,
  collectChanges,
  createReadLimit,
  type Finding,
  findingsSchema,
  planReview,
  ReviewError,
  type ReviewTarget,
} from "@diligent/core/review";
import { SIGNAL_EXIT_CODES, UsageError } from "../errors.ts";
import { type CliIo, writeFailure, writeLine } from "../io/io.ts";
import { createAnswerSchema } from "../print/answer-schema.ts";
import { createJsonOutput, createTextOutput, type RunOutput } from "../print/output.ts";
import { runAndReport, type SignalWatch, toExitCode, watchSignals } from "../print/print.ts";
import { describeStop } from "../print/summary.ts";
import { startSession } from "../session/start-session.ts";

/** What to review, and how. */
export interface ReviewOptions {
  /** Absolute and real. */
  cwd: string;
  target: ReviewTarget;
  /** Relative to the project's root; everything without any. */
  paths: readonly string[];
  model?: string | undefined;
  /** US dollars. */
  maxCost?: number | undefined;
  /** True: what the reviewer does is shown on stderr. */
  showsProgress: boolean;
}

/** What a review has found, or why it did not happen: the exit code, after a message on stderr. */
export type ReviewOutcome = { findings: Finding[]; changes: Changes } | { exitCode: number };

/**
 * Reviews changes in sessions that only read, one for each part of the diff.
 * @throws UsageError if nothing was sent: no changes can be read, no key, an unknown model.
 */
export async function runReview(options: ReviewOptions, io: CliIo): Promise<ReviewOutcome> {
  const watch = watchSignals(io);
  try {
    const { changes, root } = await collect(options, io, watch);
    for (const note of changes.notes) writeLine(io.stderr, `note: ${note}`);
    if (changes.files.length === 0) return { findings: [], changes };
    const reading = await review(changes, options, { io, watch });
    if ("exitCode" in reading) return reading;
    const { findings, dropped } = await checkFindings(reading.answers, changes, root);
    if (dropped > 0) writeLine(io.stderr, describeDropped(dropped));
    return { findings, changes };
  } catch (error) {
    if (watch.received) return { exitCode: SIGNAL_EXIT_CODES[watch.received] };
    throw error;
  } finally {
    watch.dispose();
  }
}

async function collect({ cwd, target, paths }: ReviewOptions, io: CliIo, watch: SignalWatch) {
  const { environment } = io;
  const loaded = await loadConfig(cwd, environment);
  const root = loaded.projectRoot;
  try {
    const isWithheld = createReadLimit(loaded, environment);
    const changes = await collectChanges(
      target,
      { root, environment, isWithheld, signal: watch.stop },
      paths,
    );
    return { changes, root };
  } catch (error) {
    if (error instanceof ReviewError) throw new UsageError(`review: ${error.message}`);
    throw error;
  }
}

interface ReviewDeps {
  io: CliIo;
  watch: SignalWatch;
}

async function review(
  changes: Changes,
  options: ReviewOptions,
  deps: ReviewDeps,
): Promise<{ answers: string[] } | { exitCode: number }> {
  const { io, watch } = deps;
  const open = () => openReviewer(options, io);
  const schema = await createAnswerSchema("the form of the findings", findingsSchema());
  let opened = await open();
  try {
    const plan = planReview(changes, opened.model.contextWindow);
    if ("problem" in plan) throw new UsageError(`review: ${plan.problem}`);
    // The cost of all parts together is limited.
    const budget = opened.createBudget();
    const answers: string[] = [];
    for (const [index, content] of plan.prompts.entries()) {
      if (index > 0) {
        opened.close();
        opened = await open();
      }
      const output = createOutput(options, io);
      const part = { opened, io, watch, schema, budget };
      const summary = await runAndReport([{ content, notes: [] }], output, part);
      const isAnswered = summary.stopReason === "end_turn" || summary.stopReason === "approval";
      if (!isAnswered || watch.received) {
        const failure = describeStop(summary);
        if (failure !== undefined) writeFailure(io.stderr, failure);
        return { exitCode: await toExitCode(summary, io, watch) };
      }
      answers.push(summary.result);
    }
    return { answers };
  } finally {
    opened.close();
  }
}

function openReviewer({ cwd, model, maxCost }: ReviewOptions, io: CliIo): Promise<ProjectSession> {
  const options = {
    directory: cwd,
    approval: "plan" as const,
    isSaved: true,
    isVerbose: false,
    ...(model !== undefined && { model }),
    ...(maxCost !== undefined && { maxCost }),
  };
  return startSession({ options }, io, {
    approvalDefault: "plan",
    isWatched: false,
    agentDefinition: CHANGE_REVIEWER,
  });
}

/** The findings are written at the end, when all parts are there. */
function createOutput({ showsProgress }: ReviewOptions, io: CliIo): RunOutput {
  return { ...(showsProgress ? createTextOutput(io) : createJsonOutput(io)), finish() {} };
}

function describeDropped(count: number): string {
  return count === 1
    ? "note: 1 finding was dropped: it names a file or a line that does not exist."
    : `note: ${count} findings were dropped: they name files or lines that do not exist.`;
}
