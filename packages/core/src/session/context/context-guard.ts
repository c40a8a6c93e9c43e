import { describeTools } from "../../agent/describe-tools.ts";
import type { AgentEvent, AgentLoopConfig, PreparedContext, UpcomingRequest } from "../../agent/types.ts";
import type { Environment } from "../../infrastructure/environment.ts";
import type { Model, StreamFunction } from "../../provider/types.ts";
import type { SessionGate } from "../session-gate.ts";
import type { SessionLog } from "../session-log.ts";
import type { CompactionEntry } from "../types.ts";
import type { ContextGlance } from "./context-glance.ts";
import type { ContextUsage } from "./context-usage.ts";
import type { ContextWindow } from "./context-window.ts";
import { hasRoom } from "./has-room.ts";
import { optionsFor, runConfigFor } from "./run-conditions.ts";
import { type CompactionSettings, type ContextLimits, toContextLimits } from "./settings.ts";

/** A model and the way to ask it. */
export interface Summarizer {
  model: Model;
  streamFunction: StreamFunction;
}

/** What a session needs to stay within its model's window; all of it is optional. */
export interface ContextOptions {
  compaction?: CompactionSettings | undefined;
  /** Who writes summaries; the session's own model when left out. */
  summarizer?: (() => Promise<Summarizer>) | undefined;
  /** Builds the system prompt anew: called at each compaction, when the cached prefix is void anyway. */
  buildSystemPrompt?: (() => Promise<string>) | undefined;
  /** True: before an automatic compaction the model may record knowledge, with one extra request. */
  flushKnowledge?: boolean | undefined;
  /** Where what is learned about a model's tokenizer is kept over restarts; nowhere when left out. */
  calibrationPlace?: Environment | undefined;
}

/** The same, as the session itself knows it. */
export interface GuardOptions extends ContextOptions {
  /** Where processes wait for each other's compactions; each compacts when it likes when left out. */
  gate?: SessionGate | undefined;
}

/** How a conversation is summarised on request. */
export interface CompactOptions {
  /** What the summary should pay attention to. */
  focus?: string | undefined;
  /** Aborting it leaves the session as it was. */
  signal?: AbortSignal | undefined;
  /** Told of what happens meanwhile, such as what the summary costs. */
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** What became of it. */
export type CompactionOutcome =
  | { kind: "compacted"; entry: CompactionEntry; systemPrompt: string }
  /** There is nothing that a summary could replace. */
  | { kind: "nothing" }
  | { kind: "aborted" };

/**
 * Stands before every model request of a session. Nearly all pass with a glance; what looks closer is loaded for the
 * first that does not.
 */
export class ContextGuard {
  /** As the next request begins. */
  systemPrompt: string;
  private readonly agentConfig: AgentLoopConfig;
  private readonly options: GuardOptions;
  private readonly limits: ContextLimits;
  private window: Promise<ContextWindow> | undefined;

  constructor(
    private readonly log: SessionLog,
    agentConfig: AgentLoopConfig,
    options: GuardOptions = {},
  ) {
    this.agentConfig = runConfigFor(agentConfig);
    this.systemPrompt = agentConfig.systemPrompt;
    this.options = optionsFor(agentConfig, options);
    this.limits = toContextLimits(agentConfig.model, this.options.compaction);
  }

  /** See `PrepareContext`. */
  async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    if (!this.limits.enabled) return undefined;
    if (!this.window && !request.overflow && hasRoom(request.context, this.limits)) return undefined;
    const window = await this.open();
    const prepared = await window.prepare(request);
    this.systemPrompt = prepared?.systemPrompt ?? this.systemPrompt;
    return prepared;
  }

  /** Summarises the conversation now, whether it has to be or not. */
  async compact(options: CompactOptions = {}): Promise<CompactionOutcome> {
    const window = await this.open();
    const outcome = await window.compact({ ...options, fixed: this.fixed });
    if (outcome.kind === "compacted") this.systemPrompt = outcome.systemPrompt;
    return outcome;
  }

  /** What fills the window now. */
  async describe(): Promise<ContextUsage> {
    return (await this.open()).describe(this.fixed);
  }

  /** How full the window is, without loading what could say more. */
  glance(): ContextGlance {
    const { glanceAtContext }: typeof import("./context-glance.ts") = require("./context-glance.ts");
    return glanceAtContext(this.log.path(), { fixed: this.fixed, limits: this.limits });
  }

  /** Who writes summaries. */
  async openSummarizer(emit?: (event: AgentEvent) => void): Promise<Summarizer> {
    const { model, streamFunction } = this.agentConfig;
    const choice = { own: { model, streamFunction }, preferred: this.options.summarizer };
    const { openSummarizer } = await import("./open-summarizer.ts");
    return openSummarizer(choice, emit);
  }

  /** A run begins: what an earlier one tried in vain may be tried again. */
  startRun(): void {
    void this.window?.then((window) => window.startRun());
  }

  /** Keeps what was learned about the model. */
  endRun(): void {
    void this.window?.then((window) => window.saveCalibration());
  }

  private get fixed() {
    return { systemPrompt: this.systemPrompt, tools: describeTools(this.agentConfig.tools) };
  }

  private open(): Promise<ContextWindow> {
    this.window ??= import("./open-context-window.ts").then(({ openContextWindow }) =>
      openContextWindow(this.log, this.agentConfig, { ...this.options, limits: this.limits }),
    );
    return this.window;
  }
}
