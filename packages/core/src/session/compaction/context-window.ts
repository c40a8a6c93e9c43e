import type { AgentEvent, AgentLoopConfig, PreparedContext, UpcomingRequest } from "../../agent/types.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { type Model, ProviderError, type RunConditions } from "../../provider/types.ts";
import type { CompactionSettings } from "../../types.ts";
import type { CompactionLock } from "../compaction-lock.ts";
import { buildPathContext, RECALL_TOOL } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import type { CompactionOutcome, CompactionUndoOutcome, SessionEntry } from "../types.ts";
import { findUndoable, withoutUndone } from "../undone-compactions.ts";
import {
  type CalibrationStore,
  Calibrator,
  calibrationKey,
  readCalibration,
  saveCalibration,
} from "./calibration.ts";
import {
  Compactor,
  type CompactorDeps,
  ExclusiveCompactor,
  findPromptBefore,
  flushKnowledge,
} from "./compactor.ts";
import { type ContextUsage, describeContext } from "./context-status.ts";
import type { FileBase } from "./cut-point.ts";
import type { ContextLimits } from "./limits.ts";
import type { CompactionPreview } from "./preview.ts";
import { Pruner } from "./pruning.ts";
import { RequestMeter } from "./request-meter.ts";
import type { Summarizer } from "./summarize.ts";
import { estimateFixedTokens, type FixedPart, findAnsweredTokens, findCountedReply } from "./tokens.ts";

// Each attempt halves the part kept verbatim; the last keeps only the newest reply.
const MAX_HALVINGS = 6;

// A summary is hardly shorter than that, so nothing would be gained.
const MIN_CONVERSATION_CHARACTERS = 1_000;

/** `limits` are the initial limits: a refusal by the provider narrows them. */
interface ContextWindowDeps {
  log: SessionLog;
  limits: ContextLimits;
  calibrator: Calibrator;
  compactor: Compactor;
  /** True if the model has the recall tool. */
  hasRecall: boolean;
  /** The id of the model, for messages. */
  modelId: string;
  /** The model's own window, for showing. */
  modelContextWindow: number;
  /** Called before a compaction, with the conversation's next request. */
  flush?: ((request: FlushRequest) => Promise<void>) | undefined;
}

/** The outcome, with the system prompt of the restored context. */
type WindowUndoOutcome =
  | Exclude<CompactionUndoOutcome, { kind: "undone" }>
  | (Extract<CompactionUndoOutcome, { kind: "undone" }> & { systemPrompt: string });

type FlushRequest = Omit<UpcomingRequest, "overflow">;

/** A compaction on request, in the session's form. */
type ManualCompaction = Omit<CompactOptions, "signal" | "emit"> & FlushRequest;

/**
 * Keeps the conversation of one session within its model's window: old tool results are shortened first, then the
 * older part is summarized. Each step is recorded as an entry of the session, so that a resumed one sees the same.
 */
export class ContextWindow {
  private readonly attempts = new CompactionAttempts();
  private readonly meter: RequestMeter;
  private readonly pruner: Pruner;
  /** The last entry at the time of the last request to record knowledge. */
  private flushedUntil: SessionEntry | undefined;

  constructor(private readonly parts: ContextWindowDeps) {
    const { log, limits, calibrator } = parts;
    this.meter = new RequestMeter(log, calibrator.estimator, limits);
    this.pruner = new Pruner(log, this.meter, parts.hasRecall);
  }

  /** See `PrepareContext`. @throws ProviderError of kind `context_overflow` when the request cannot be made to fit. */
  async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { calibrator, log } = this.parts;
    const { attempts, meter } = this;
    calibrator.learn(request.context, findCountedReply(log.conversation())?.message);
    if (!meter.limits.enabled) return this.onlyPrune(request);
    this.assertFixedPartFits(request.context);
    if (request.overflow) return this.shorten(request);
    const answered = findAnsweredTokens(log.conversation());
    if (answered !== undefined && !meter.exceedsLimit(answered)) attempts.endRow();
    const isPruned = this.prune(request);
    if (meter.isTooLong(request.context)) return this.shorten(request);
    attempts.endRow();
    return isPruned ? this.prepared() : undefined;
  }

  /** Summarizes the conversation, whether it is necessary or not. */
  async compact({ context, ...options }: ManualCompaction): Promise<CompactionOutcome> {
    const { meter } = this;
    const fixed: FixedPart = context;
    const { limits } = meter;
    const tokens = meter.countTokens(fixed);
    for (const keepRecentTokens of this.listKeptSizes(fixed)) {
      const outcome = await this.parts.compactor.compact({
        ...options,
        trigger: "manual",
        flush: tokens > limits.contextWindow ? undefined : () => this.flush({ context, ...options }),
        fixed,
        tokens,
        limits,
        keepRecentTokens,
      });
      if (outcome.kind !== "nothing") return outcome;
    }
    return { kind: "nothing" };
  }

  /** What `compact` would do now; undefined if there is nothing to summarize. */
  preview(fixed: FixedPart): CompactionPreview | undefined {
    const { limits } = this.meter;
    for (const keepRecentTokens of this.listKeptSizes(fixed)) {
      const preview = this.parts.compactor.preview({ fixed, limits, keepRecentTokens });
      if (preview) return preview;
    }
    return undefined;
  }

  /** How much a compaction on request keeps, in the order of the attempts; none if nothing would be gained. */
  private listKeptSizes(fixed: FixedPart): number[] {
    const { meter } = this;
    if (meter.countConversation() < MIN_CONVERSATION_CHARACTERS) return [];
    // At least half of a short conversation is summarized, because the user asked for it.
    const most = Math.floor(Math.max(0, meter.countTokens(fixed) - estimateFixedTokens(fixed)) / 2);
    const largest = Math.min(most, meter.limits.keepRecentTokens);
    return Array.from({ length: MAX_HALVINGS + 1 }, (_, halvings) => halve(largest, halvings));
  }

  /** Restores the context from before the last compaction, if it fits; messages since then follow it. */
  undoCompaction(fixed: FixedPart): WindowUndoOutcome {
    const { log } = this.parts;
    const { contextWindow, enabled, reserveTokens } = this.meter.limits;
    const compaction = findUndoable(log.path());
    if (!compaction) return { kind: "nothing" };
    const systemPrompt = findPromptBefore(compaction) ?? fixed.systemPrompt;
    const content = { type: "compaction_undo" as const, targetId: compaction.id };
    const draft = { ...content, id: "", parentId: log.leafId, timestamp: "" };
    const restored = withoutUndone([...log.path(), draft]);
    const tokens = this.meter.countTokens({ ...fixed, systemPrompt }, restored);
    const maxTokens = enabled ? contextWindow - reserveTokens : contextWindow;
    if (tokens > maxTokens) return { kind: "too_long", tokens, maxTokens };
    const tokensBefore = this.meter.countTokens(fixed);
    log.append((place) => ({ type: "compaction_undo", ...place, targetId: compaction.id }));
    return { kind: "undone", tokensBefore, tokensAfter: tokens, systemPrompt };
  }

  /** The current context usage. */
  describe(fixed: FixedPart): ContextUsage {
    const { calibrator, log } = this.parts;
    const { modelContextWindow } = this.parts;
    return describeContext(log.conversation(), {
      fixed,
      limits: this.meter.limits,
      calibrator,
      modelContextWindow,
    });
  }

  /** Resets attempts at the start of a run: a step that failed in an earlier one may be tried again. */
  startRun(): void {
    this.attempts.endRow();
  }

  saveCalibration(): void {
    this.parts.calibrator.save();
  }

  private prune({ context: fixed, emit }: UpcomingRequest): boolean {
    const { meter, pruner } = this;
    if (pruner.pruneOld({ fixed, emit })) return true;
    if (!meter.limits.pruning.enabled || !meter.isTooLong(fixed)) return false;
    // If summarizing everything possible would not suffice, the newest results are trimmed to head and tail.
    const kept = meter.findAlwaysKept();
    return pruner.pruneToFit(() => meter.countExcessBesides(kept, fixed), { fixed, emit }, kept);
  }

  /** With summaries disabled, tool results are still shortened, including the newest once a request is too long. */
  private onlyPrune({ context, emit, overflow }: UpcomingRequest): PreparedContext | undefined {
    const { meter, pruner } = this;
    if (!meter.limits.pruning.enabled) return undefined;
    const limits = overflow ? meter.learnFromRefusal(context, overflow) : meter.limits;
    const excess = () =>
      overflow ? meter.countExcessAfterRefusal(context, limits) : meter.countExcess(context, limits);
    const isOldPruned = pruner.pruneOld({ fixed: context, emit });
    const isPruned = pruner.pruneToFit(excess, { fixed: context, emit }) || isOldPruned;
    return isPruned ? this.prepared() : undefined;
  }

  /** Summarizes until the request fits; a refused request is repeated after the first summary. */
  private async shorten(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { compactor } = this.parts;
    const { attempts, meter } = this;
    let fixed: FixedPart = request.context;
    const limits = request.overflow ? meter.learnFromRefusal(fixed, request.overflow) : meter.limits;
    const excess = () =>
      request.overflow ? meter.countExcessAfterRefusal(fixed, limits) : meter.countExcess(fixed, limits);
    let isChanged = false;
    for (let halvings = 0; halvings <= MAX_HALVINGS && !attempts.areUsedUp; halvings++) {
      const outcome = await compactor.compact({
        ...request,
        trigger: request.overflow ? "overflow" : "threshold",
        // The same request would be refused again.
        flush: request.overflow ? undefined : () => this.flush(request),
        fixed,
        tokens: meter.countTokens(fixed),
        limits,
        keepRecentTokens: halve(limits.keepRecentTokens, halvings),
      });
      if (outcome.kind === "aborted") return undefined;
      if (outcome.kind === "nothing") continue;
      attempts.note();
      isChanged = true;
      fixed = { ...fixed, systemPrompt: outcome.systemPrompt };
      if (excess() === 0) return this.prepared(fixed);
      // A refused request is repeated only once, so there is no second attempt.
      if (request.overflow) break;
    }
    // Only the newest turn is left: its results are trimmed to head and tail.
    isChanged = this.pruner.pruneToFit(excess, { fixed, emit: request.emit }) || isChanged;
    const isHopeless = request.overflow ? !isChanged : meter.countTokens(fixed) > limits.contextWindow;
    if (isHopeless) throw this.cannotFit(request, fixed);
    return isChanged ? this.prepared(fixed) : undefined;
  }

  /** Lets the model record knowledge, unless it was asked before and no entry has been added since. */
  private async flush(request: FlushRequest): Promise<void> {
    const path = this.parts.log.conversation();
    const seen = path.findLastIndex((entry) => entry === this.flushedUntil || entry.type === "compaction");
    const hasNews = path.slice(seen + 1).some(({ type }) => type === "message");
    if (!hasNews) return;
    this.flushedUntil = path.at(-1);
    await this.parts.flush?.(request);
  }

  private prepared(fixed?: FixedPart): PreparedContext {
    const { messages } = buildPathContext(this.parts.log.conversation());
    return { messages, systemPrompt: fixed?.systemPrompt };
  }

  private assertFixedPartFits(fixed: FixedPart): void {
    const { contextWindow, maxFixedTokens } = this.meter.limits;
    const tokens = estimateFixedTokens(fixed);
    if (tokens <= maxFixedTokens) return;
    throw fixedPartOverflow({ tokens, contextWindow, modelId: this.parts.modelId });
  }

  private cannotFit({ overflow }: UpcomingRequest, fixed: FixedPart) {
    return conversationOverflow({
      tokens: this.meter.countTokens(fixed),
      contextWindow: this.meter.limits.contextWindow,
      modelId: this.parts.modelId,
      areUsedUp: this.attempts.areUsedUp,
      refusal: overflow,
    });
  }
}

function halve(tokens: number, times: number): number {
  return times === MAX_HALVINGS ? 0 : Math.floor(tokens / 2 ** times);
}

/** Creates the context window of a session. */
export function openContextWindow(
  log: SessionLog,
  agentConfig: AgentLoopConfig,
  options: ContextManagerOptions & { limits: ContextLimits },
): ContextWindow {
  const { maxRetries, model, streamFunction } = agentConfig;
  const { buildSystemPrompt, fileBase, gate, limits } = options;
  const hasRecall = agentConfig.tools.some(({ name }) => name === RECALL_TOOL);
  const calibrator = new Calibrator(openCalibrationStore(model, options));
  const parts: CompactorDeps = {
    log,
    limits,
    estimator: calibrator.estimator,
    own: { model, streamFunction },
    hasRecall,
    maxRetries,
    fileBase,
    preferred: options.summarizer,
    renewSystemPrompt: async (before) => (buildSystemPrompt ? buildSystemPrompt() : before),
  };
  const compactor = gate ? new ExclusiveCompactor(parts, gate) : new Compactor(parts);
  const flush = options.flushKnowledge
    ? (request: Omit<UpcomingRequest, "overflow">) => flushKnowledge(agentConfig, request)
    : undefined;
  return new ContextWindow({
    log,
    limits,
    calibrator,
    compactor,
    hasRecall,
    modelId: model.id,
    modelContextWindow: model.contextWindow,
    flush,
  });
}

/** For a scripted model, which defines its own token counts, nothing is learned and no calibration applies. */
function openCalibrationStore(
  model: Model,
  { calibrationLocation, conditions, startCalibration }: ContextManagerOptions,
): CalibrationStore {
  const key = calibrationKey(model);
  const kept = model.provider === "scripted" ? undefined : calibrationLocation;
  return {
    read() {
      const saved = conditions ? conditions.calibration : kept && readCalibration(kept, key);
      return startCalibration ? startCalibration(saved) : saved;
    },
    save: (calibration) => {
      if (kept) void saveCalibration(kept, key, calibration);
    },
  };
}

// More attempts would not help, and each of them costs a request.
const MAX_CONSECUTIVE = 3;

/**
 * How often a run may be compacted: three times in a row. A request that needed no compaction resets the count, and
 * so does an answered one within the limit: a long run may continue as long as each compaction makes room for work.
 */
class CompactionAttempts {
  private consecutive = 0;

  get areUsedUp(): boolean {
    return this.consecutive >= MAX_CONSECUTIVE;
  }

  note(): void {
    this.consecutive++;
  }

  endRow(): void {
    this.consecutive = 0;
  }
}

/** The values in the messages: tokens, and the id of the model. */
interface Overflow {
  /** Approximately this many tokens are needed. */
  tokens: number;
  contextWindow: number;
  modelId: string;
}

/** The error when system prompt and tools leave no room for work. */
function fixedPartOverflow({ tokens, contextWindow, modelId }: Overflow): ProviderError {
  return new ProviderError(
    `System prompt, instructions, knowledge and tools take about ${tokens} tokens, more than half of the window of ` +
      `${contextWindow} tokens of ${modelId}. Shorten the instructions, or choose a model with a larger window.`,
    "context_overflow",
  );
}

/**
 * The error when a conversation cannot be shortened any further.
 * @param areUsedUp see `CompactionAttempts`.
 * @param refusal the provider's error if it refused the request.
 */
function conversationOverflow({
  tokens,
  contextWindow,
  modelId,
  areUsedUp,
  refusal,
}: Overflow & { areUsedUp: boolean; refusal: ProviderError | undefined }): ProviderError {
  const refusalText = refusal ? ` The provider said: ${refusal.message}` : "";
  const why = areUsedUp ? "several summaries in a row freed no space" : "nothing more can be summarized";
  return new ProviderError(
    `The conversation does not fit into the context window of ${modelId}: about ${tokens} of ` +
      `${contextWindow} tokens, and ${why}.${refusalText}`,
    "context_overflow",
  );
}

/** The options for keeping a session within its model's window. */
export interface ContextOptions {
  compaction?: CompactionSettings | undefined;
  /** Chooses the model that writes summaries; the session's own model when left out. */
  summarizer?: (() => Promise<Summarizer>) | undefined;
  /** Rebuilds the system prompt: called at each compaction, when the cached prefix is invalid anyway. */
  buildSystemPrompt?: (() => Promise<string>) | undefined;
  /** True: before a compaction the model may record knowledge, with one extra request if there is anything new. */
  flushKnowledge?: boolean | undefined;
  /**
   * The environment whose state directory holds the calibration of a model's tokenizer; nothing is saved when left out.
   */
  calibrationLocation?: Environment | undefined;
  /** What the window starts with, given what was saved there: tokens per character, and from how many requests. */
  startCalibration?:
    | ((
        saved: { ratio: number; samples: number } | undefined,
      ) => { ratio: number; samples: number } | undefined)
    | undefined;
}

/** The same options in the session's own form. */
export interface ContextManagerOptions extends ContextOptions {
  /** See `SessionManagerConfig`. */
  conditions?: RunConditions | undefined;
  /** Lets processes wait for each other's compactions; they do not wait when left out. */
  gate?: CompactionLock | undefined;
  /** The base of relative paths in tool calls, for the lists of files. */
  fileBase?: FileBase | undefined;
}

/** How a conversation is summarized on request. */
export interface CompactOptions {
  /** The subject that the summary should emphasize. */
  focus?: string | undefined;
  /** Aborting it leaves the session as it was. */
  signal?: AbortSignal | undefined;
  /** Receives events of the compaction, such as the cost of the summary. */
  emit?: ((event: AgentEvent) => void) | undefined;
}
