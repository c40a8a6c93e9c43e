import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { createProjectHarness } from "@diligent/core/harness";
import { findProjectRoot, homeDirectory, openCheckpoints } from "@diligent/core/light";
import {
  type AssistantMessage,
  type CheckRecord,
  type Effort,
  findLeafId,
  now,
  pathTo,
  promptText,
  type RunStopReason,
  type SessionEntry,
  type Usage,
  type UserMessage,
} from "@diligent/core/run";
import { findEntryId, readSessionFile } from "@diligent/core/sessions";
import { type DiffSize, type TakenWorktree, WorktreeError, Worktrees } from "@diligent/core/worktrees";
import { orUsageError, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { addEventToSummary, createRunSummary } from "../print/summary.ts";

/** What is different in a run. */
export type Variant =
  | { kind: "model"; value: string }
  | { kind: "prompt"; value: string }
  | { kind: "effort"; value: Effort };

/** Which session is continued from where, and how. */
export interface WhatIfOptions {
  /** The session's file. */
  path: string;
  /** An entry's id or label. */
  entry: string;
  variants: readonly Variant[];
  runs: number;
  /** US dollars, of all runs together. */
  maxCost: number | undefined;
  /** True: the worktrees stay. */
  isKept: boolean;
  cwd: string;
}

/** The outcome of one run of a variant. */
export interface WhatIfRun {
  variant: Variant;
  /** From 1. */
  run: number;
  /** Empty if the run could not begin. */
  sessionId: string;
  stopReason: RunStopReason;
  error?: string | undefined;
  checks: CheckRecord[];
  turns: number;
  usage: Usage;
  /** US dollars; null when the model's price is unknown. */
  cost: number | null;
  durationMs: number;
  diff: DiffSize;
  /** Where the worktree is, if it was kept. */
  worktree?: string | undefined;
}

type Budget = ReturnType<Awaited<ReturnType<typeof openRun>>["opened"]["createBudget"]>;

/**
 * Runs every variant in a worktree of its own that holds the project as it was at the entry.
 * @param report receives lines about the progress.
 * @returns the runs that ended or were stopped.
 * @throws UsageError if nothing can be run: nothing was sent then.
 */
export async function runVariants(
  options: WhatIfOptions,
  io: CliIo,
  { stop, report }: { stop: AbortSignal; report(line: string): void },
): Promise<WhatIfRun[]> {
  const root = findProjectRoot(options.cwd, homeDirectory(io.environment));
  const start = await findStart(options);
  const prompts = options.variants.map((variant) => readVariantPrompt(variant, start, options));
  const worktrees = await openWorktrees(root, io);
  const runs: WhatIfRun[] = [];
  let budget: Budget | undefined;
  for (const [index, variant] of options.variants.entries()) {
    for (let run = 1; run <= options.runs; run++) {
      if (stop.aborted || budget?.isOverCost) return runs;
      const taken = await orWorktreeUsage(() => worktrees.take());
      const kept = options.isKept ? { worktree: taken.tree.path } : {};
      try {
        const since = await prepare(taken, { root, start, io, report });
        const content = prompts[index] ?? "";
        report(`Run ${run} of ${describeVariant(variant)} in ${taken.tree.path}`);
        const done = await runOnce({ options, variant, content, start, root, io, taken, stop, budget });
        budget = done.budget;
        const diff = await taken.state.measureDiff(since);
        runs.push({ ...done.outcome, variant, run, diff, ...kept });
      } catch (error) {
        // What others have found, and cost, is not lost with it.
        if (runs.length === 0) throw error;
        const failed = toFailedRun(error);
        report(`Run ${run} of ${describeVariant(variant)} failed: ${failed.error}`);
        runs.push({ ...failed, variant, run, ...kept });
      } finally {
        const end = options.isKept ? taken.release() : await taken.discard();
        if (end?.kind === "unknown") report(`The worktree ${taken.tree.path} was not removed: ${end.reason}`);
      }
    }
  }
  return runs;
}

/** A run that could not begin, or was not finished for a reason outside of it. */
function toFailedRun(error: unknown): Omit<WhatIfRun, "variant" | "run"> {
  return {
    sessionId: "",
    stopReason: "error",
    error: error instanceof Error ? error.message : String(error),
    checks: [],
    turns: 0,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    cost: null,
    durationMs: 0,
    diff: { files: 0, added: 0, removed: 0 },
  };
}

/** A variant as the user gave it. */
export function describeVariant({ kind, value }: Variant): string {
  return `${kind} ${value}`;
}

/** Where the runs begin. */
interface Start {
  sessionId: string;
  /** The directory of the session. */
  cwd: string;
  /** The last entry that they share with the session; undefined for its beginning. */
  entryId: string | undefined;
  /** The entries up to there. */
  path: readonly SessionEntry[];
  /** What the user said next. */
  prompt: UserMessage["content"] | undefined;
  /** The model that answered that; undefined if nothing did. */
  modelId: string | undefined;
  /** True if calls after it may have changed files. */
  hasLaterCalls: boolean;
}

/** A prompt is asked again; after any other entry, the prompt that followed it is. */
async function findStart({ path, entry }: WhatIfOptions): Promise<Start> {
  const file = await orUsageError(() => readSessionFile(path));
  const { entries, header } = file;
  const id = await orUsageError(() => findEntryId(file, entry));
  const own = pathTo(entries, id);
  const leaf = findLeafId(entries);
  const line = pathTo(entries, leaf).some((each) => each.id === id) ? pathTo(entries, leaf) : own;
  const later = line.slice(own.length - 1);
  const asked = later.find((each) => each.type === "message" && each.message.role === "user");
  const isPrompt = asked?.id === id;
  const common = isPrompt ? own.slice(0, -1) : own;
  return {
    sessionId: header.id,
    cwd: header.cwd,
    entryId: common.at(-1)?.id,
    path: common,
    prompt: asked?.type === "message" && asked.message.role === "user" ? asked.message.content : undefined,
    modelId: answerIn(later)?.model,
    hasLaterCalls: later.some((each) => each.type === "message" && each.message.role === "tool_result"),
  };
}

function answerIn(entries: readonly SessionEntry[]): AssistantMessage | undefined {
  for (const entry of entries)
    if (entry.type === "message" && entry.message.role === "assistant") return entry.message;
  return undefined;
}

/** @throws UsageError without a prompt, and for a file that cannot be read. */
function readVariantPrompt(
  variant: Variant,
  { prompt }: Start,
  { entry, cwd }: WhatIfOptions,
): UserMessage["content"] {
  if (variant.kind === "prompt") {
    const text = readPromptFile(resolve(cwd, variant.value), variant.value);
    if (text.trim() === "") throw new UsageError(`what-if: ${variant.value} is empty`);
    return text;
  }
  if (prompt === undefined || promptText({ content: prompt }).trim() === "")
    throw new UsageError(
      `what-if: nothing was asked after entry ${entry}; say what to ask with --prompt-file`,
    );
  return prompt;
}

function readPromptFile(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new UsageError(`what-if: cannot read ${name}`);
  }
}

async function openWorktrees(root: string, { environment }: CliIo): Promise<Worktrees> {
  return orWorktreeUsage(() => Worktrees.open({ root, environment }));
}

async function orWorktreeUsage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorktreeError) throw new UsageError(`what-if: ${error.message}`);
    throw error;
  }
}

interface Preparation {
  root: string;
  start: Start;
  io: CliIo;
  report(line: string): void;
}

/** Gives the worktree the state of the project at the entry; returns that state. */
async function prepare({ state }: TakenWorktree, { root, start, io, report }: Preparation): Promise<string> {
  const { sessionId, path, hasLaterCalls } = start;
  const checkpoints = await openCheckpoints({ root, environment: io.environment, sessionId });
  try {
    const states = await checkpoints.statesAt(new Set(path.map(({ id }) => id)));
    if (states === undefined && hasLaterCalls) {
      report("The state at that entry is not recorded: the run begins with the last commit.");
    } else {
      await state.copyUncommitted();
      const unknown = state.restore(states ?? []);
      if (unknown.length > 0)
        report(`As they are now, since no earlier content is recorded: ${unknown.join(", ")}`);
    }
  } finally {
    checkpoints.close();
  }
  return state.keep();
}

interface RunDeps {
  options: WhatIfOptions;
  variant: Variant;
  content: UserMessage["content"];
  start: Start;
  root: string;
  io: CliIo;
  taken: TakenWorktree;
  stop: AbortSignal;
  /** Of the runs so far. */
  budget: Budget | undefined;
}

async function runOnce({ content, stop, budget: earlier, ...deps }: RunDeps) {
  const { harness, opened } = await openRun(deps);
  try {
    const { session, model } = opened;
    const budget = earlier ?? opened.createBudget();
    budget.beginPrompt();
    let summary = createRunSummary(model);
    const startedAt = performance.now();
    await session
      .run({ role: "user", content, timestamp: now() }, { signal: stop, budget })
      .consume((event) => {
        summary = addEventToSummary(summary, event);
      });
    const { stopReason = "error", error, evidence, turns, usage, cost } = summary;
    const durationMs = Math.round(performance.now() - startedAt);
    const checks = evidence?.checks ?? [];
    const { sessionId } = session;
    return {
      budget,
      outcome: { sessionId, stopReason, error: error?.message, checks, turns, usage, cost, durationMs },
    };
  } finally {
    await harness.close();
  }
}

/** Opens the copy of the session in the worktree. @throws UsageError for a model that cannot be used. */
async function openRun({
  options,
  variant,
  start,
  root,
  io,
  taken,
}: Omit<RunDeps, "content" | "stop" | "budget">) {
  const inside = join(taken.tree.path, relative(root, start.cwd));
  const isInside = !relative(root, start.cwd).startsWith("..") && existsSync(inside);
  const harness = await createProjectHarness({
    cwd: isInside ? inside : taken.tree.path,
    environment: io.environment,
    overrides: { approvalMode: "auto", maxCost: options.maxCost },
  });
  try {
    const { sessionId, entryId, modelId } = start;
    const model = variant.kind === "model" ? variant.value : undefined;
    const opened =
      entryId === undefined
        ? await harness.openSession({ fresh: true }, { model: model ?? modelId })
        : await harness.openSession({ fork: `${sessionId}@${entryId}` }, { model });
    if (variant.kind === "effort") await opened.changeModel({ effort: variant.value });
    return { harness, opened };
  } catch (error) {
    await harness.close();
    throw error;
  }
}
