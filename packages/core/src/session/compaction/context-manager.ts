import { limitRequests, SharedBudget } from "../../agent/budget.ts";
import { computeCost } from "../../agent/cost.ts";
import { describeTools } from "../../agent/run.ts";
import type { AgentLoopConfig, PreparedContext, UpcomingRequest } from "../../agent/types.ts";
import type { Model, ModelFacts, RunConditions } from "../../provider/types.ts";
import { buildPathContext } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import type { CompactionOutcome, CompactionUndoOutcome } from "../types.ts";
import type { ContextSnapshot, ContextUsage } from "./context-status.ts";
import type { CompactOptions, ContextManagerOptions, ContextWindow } from "./context-window.ts";
import type { FileBase } from "./cut-point.ts";
import { type ContextLimits, toContextLimits } from "./limits.ts";
import type { CompactionPreview } from "./preview.ts";
import type { SummarizerChoice } from "./summarize.ts";
import { hasRoom } from "./tokens.ts";

/**
 * Checks every model request of a session. Nearly all pass a cheap check; the other code is loaded for the first that
 * does not.
 */
export class ContextManager {
  /** The beginning of the next request. */
  systemPrompt: string;
  private readonly agentConfig: AgentLoopConfig;
  private readonly options: ContextManagerOptions;
  private readonly limits: ContextLimits;
  private window: Promise<ContextWindow> | undefined;

  constructor(
    private readonly log: SessionLog,
    agentConfig: AgentLoopConfig,
    options: ContextManagerOptions = {},
  ) {
    this.agentConfig = runConfigFor(agentConfig, options.conditions);
    this.systemPrompt = agentConfig.systemPrompt;
    this.options = optionsFor(agentConfig, options);
    this.limits = toContextLimits(agentConfig.model, this.options.compaction);
  }

  /** See `PrepareContext`. */
  async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { enabled, pruning } = this.limits;
    if (!enabled && !pruning.enabled) return undefined;
    if (!this.window && !request.overflow && hasRoom(request.context, this.limits)) return undefined;
    const window = await this.open();
    const prepared = await window.prepare(request);
    this.systemPrompt = prepared?.systemPrompt ?? this.systemPrompt;
    return prepared;
  }

  /** Summarizes the conversation now, whether it is necessary or not. */
  async compact(options: CompactOptions = {}): Promise<CompactionOutcome> {
    const window = await this.open();
    const { signal = new AbortController().signal, emit = () => {} } = options;
    const budget = this.createBudget();
    const outcome = await window.compact({
      limit: (stream) => limitRequests(stream, budget),
      focus: options.focus,
      signal,
      emit,
      context: { ...this.fixed, messages: buildPathContext(this.log.conversation()).messages },
      countUsage: (usage, model, purpose) => {
        const cost = computeCost(usage, model);
        budget.addCost(cost);
        emit({ type: "usage", usage, cost, purpose });
      },
    });
    if (outcome.kind === "compacted") this.systemPrompt = outcome.systemPrompt;
    return outcome;
  }

  /** What `compact` would do now; undefined if there is nothing to summarize. */
  async preview(): Promise<CompactionPreview | undefined> {
    return (await this.open()).preview(this.fixed);
  }

  /**
   * Restores the context from before the last compaction, unless it does not fit.
   * @param assertPossible called just before anything is changed; an error that it throws changes nothing.
   */
  async undoCompaction(assertPossible: () => void): Promise<CompactionUndoOutcome> {
    const window = await this.open();
    assertPossible();
    const outcome = window.undoCompaction(this.fixed);
    if (outcome.kind !== "undone") return outcome;
    const { systemPrompt, ...undone } = outcome;
    this.systemPrompt = systemPrompt;
    return undone;
  }

  /** The current contents of the window. */
  async describe(): Promise<ContextUsage> {
    return (await this.open()).describe(this.fixed);
  }

  /** All messages that the user pins may take this many tokens. */
  get maxPinTokens(): number {
    return this.limits.maxPinTokens;
  }

  /** The base of relative paths in tool calls. */
  get fileBase(): FileBase | undefined {
    return this.options.fileBase;
  }

  /** How full the window is, without loading the code for details. */
  snapshot(): ContextSnapshot {
    const { snapshotContext }: typeof import("./context-status.ts") = require("./context-status.ts");
    return snapshotContext(this.log.conversation(), { fixed: this.fixed, limits: this.limits });
  }

  /** The models that write summaries on request. */
  get summarizers(): SummarizerChoice {
    const { model, streamFunction } = this.agentConfig;
    return { own: { model, streamFunction }, preferred: this.options.summarizer };
  }

  /** The cost limit for the requests of one piece of work outside of runs. */
  createBudget(): SharedBudget {
    return new SharedBudget({ maxCost: this.agentConfig.maxCost });
  }

  /** Resets attempts at the start of a run: a step that failed in an earlier one may be tried again. */
  startRun(): void {
    void this.window?.then((window) => window.startRun());
  }

  /** Saves the model's calibration. */
  endRun(): void {
    void this.window?.then((window) => window.saveCalibration());
  }

  private get fixed() {
    return {
      systemPrompt: this.systemPrompt,
      tools: describeTools(this.agentConfig.tools, this.agentConfig.model),
    };
  }

  private open(): Promise<ContextWindow> {
    this.window ??= import("./context-window.ts").then(({ openContextWindow }) =>
      openContextWindow(this.log, this.agentConfig, { ...this.options, limits: this.limits }),
    );
    return this.window;
  }
}

/**
 * The options that apply to a model: in a recorded run and its replays those of the run's `conditions` instead of the
 * configured ones. A script contains its own summaries, so no other model is asked for them.
 */
function optionsFor(
  { model, streamFunction }: Pick<AgentLoopConfig, "model" | "streamFunction">,
  options: ContextManagerOptions,
): ContextManagerOptions {
  const { conditions } = options;
  if (!conditions) return options;
  const { compaction, flushKnowledge, summarizer: facts } = conditions;
  const held = { ...options, compaction, flushKnowledge };
  if (model.provider !== "scripted") return held;
  const summarizer = facts && (async () => ({ model: createPlaceholder(model, facts), streamFunction }));
  return { ...held, summarizer };
}

/**
 * The configuration of a run: its `conditions`, if any, replace the configured number of retries and limits.
 */
export function runConfigFor(
  config: AgentLoopConfig,
  conditions: RunConditions | undefined,
): AgentLoopConfig {
  if (!conditions) return config;
  const { maxRetries, maxTurns, maxCost } = conditions;
  return { ...config, maxRetries, maxTurns, maxCost };
}

/** A model with this one's replies and the size and price of another. */
function createPlaceholder({ id, provider, thinking, ...own }: Model, facts: ModelFacts): Model {
  const { contextWindow, maxOutputTokens } = own;
  return { id, provider, ...(thinking && { thinking }), contextWindow, maxOutputTokens, ...facts };
}
