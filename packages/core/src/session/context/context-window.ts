import type { PreparedContext, UpcomingRequest } from "../../agent/types.ts";
import { buildPathContext } from "../context-builder.ts";
import type { SessionLog } from "../session-log.ts";
import type { Calibrator } from "./calibrator.ts";
import { CompactionAttempts } from "./compaction-attempts.ts";
import type { Compactor } from "./compactor.ts";
import type { CompactionOutcome, CompactOptions } from "./context-guard.ts";
import { conversationOverflow, fixedPartOverflow } from "./context-overflow.ts";
import { estimateFixedTokens, findAnsweredTokens, findCountedReply } from "./context-tokens.ts";
import { type ContextUsage, describeContext } from "./context-usage.ts";
import type { FixedPart } from "./fixed-part.ts";
import { Pruner } from "./pruner.ts";
import { RequestMeter } from "./request-meter.ts";
import type { ContextLimits } from "./settings.ts";

// Each time half as much is kept word for word, in the end nothing but the newest reply.
const MAX_HALVINGS = 6;

// Hardly a summary is shorter, so nothing would be gained.
const MIN_CONVERSATION_CHARACTERS = 1_000;

/** `limits` are those to begin with: what the provider refuses narrows them. */
export interface ContextWindowParts {
  log: SessionLog;
  limits: ContextLimits;
  calibrator: Calibrator;
  compactor: Compactor;
  /** The id of the model, for messages. */
  modelId: string;
  /** Called before an automatic compaction of a request that was not refused. */
  flush?: ((request: UpcomingRequest) => Promise<void>) | undefined;
}

/**
 * Keeps the conversation of one session within its model's window: old tool results are shortened first, then the older
 * part is summarised. What it does is an entry of the session, so that a resumed one sees the same.
 */
export class ContextWindow {
  private readonly attempts = new CompactionAttempts();
  private readonly meter: RequestMeter;
  private readonly pruner: Pruner;

  constructor(private readonly parts: ContextWindowParts) {
    const { log, limits, calibrator } = parts;
    this.meter = new RequestMeter(log, calibrator.estimator, limits);
    this.pruner = new Pruner(log, limits.pruning);
  }

  /** See `PrepareContext`. @throws ProviderError of kind `context_overflow` when nothing can make the request fit. */
  async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { calibrator, log } = this.parts;
    const { attempts, meter } = this;
    calibrator.learn(request.context, findCountedReply(log.path())?.message);
    this.assertFixedPartFits(request.context);
    if (request.overflow) return this.shorten(request);
    const answered = findAnsweredTokens(log.path());
    if (answered !== undefined && !meter.exceedsLimit(answered)) attempts.endRow();
    const isPruned = this.prune(request.context);
    if (meter.isTooLong(request.context)) return this.shorten(request);
    attempts.endRow();
    return isPruned ? this.prepared() : undefined;
  }

  /** Summarises what there is, whether it has to be or not. */
  async compact(options: CompactOptions & { fixed: FixedPart }): Promise<CompactionOutcome> {
    const { meter } = this;
    const { limits } = meter;
    if (meter.countConversation() < MIN_CONVERSATION_CHARACTERS) return { kind: "nothing" };
    const tokens = meter.countTokens(options.fixed);
    // Of a short conversation at least a half is summarised: somebody asked for it.
    const most = Math.floor(Math.max(0, tokens - estimateFixedTokens(options.fixed)) / 2);
    for (let halvings = 0; halvings <= MAX_HALVINGS; halvings++) {
      const keepRecentTokens = halve(Math.min(most, limits.keepRecentTokens), halvings);
      const outcome = await this.parts.compactor.compact({ ...options, tokens, limits, keepRecentTokens });
      if (outcome.kind !== "nothing") return outcome;
    }
    return { kind: "nothing" };
  }

  /** What fills the window now. */
  describe(fixed: FixedPart): ContextUsage {
    const { calibrator, log } = this.parts;
    return describeContext(log.path(), { fixed, limits: this.meter.limits, calibrator });
  }

  /** A run begins: what an earlier one tried in vain may be tried again. */
  startRun(): void {
    this.attempts.endRow();
  }

  saveCalibration(): void {
    this.parts.calibrator.save();
  }

  private prune(fixed: FixedPart): boolean {
    const { meter, pruner } = this;
    if (pruner.pruneOld()) return true;
    if (!meter.limits.pruning.enabled || !meter.isTooLong(fixed)) return false;
    // Where a summary of all that can be summarised would not do, head and tail of the newest results have to.
    return pruner.pruneNewest(() => meter.hasRoomOnceSummarized(fixed));
  }

  /** Summarises until the request fits; one that was refused is made again after the first time. */
  private async shorten(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { compactor, flush } = this.parts;
    const { attempts, meter } = this;
    if (!request.overflow && !attempts.areUsedUp) await flush?.(request);
    let fixed: FixedPart = request.context;
    const limits = request.overflow ? meter.learnFromRefusal(fixed, request.overflow) : meter.limits;
    const fits = () => !meter.isTooLong(fixed, limits) && !(request.overflow && meter.mayBeTooLong(fixed));
    let isChanged = false;
    for (let halvings = 0; halvings <= MAX_HALVINGS && !attempts.areUsedUp; halvings++) {
      const outcome = await compactor.compact({
        ...request,
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
      if (fits()) return this.prepared(fixed);
      // It is asked for once more only, so there is no second try.
      if (request.overflow) break;
    }
    // What is left is the newest turn: of its results head and tail have to do.
    isChanged = this.pruner.pruneNewest(fits) || isChanged;
    const isHopeless = request.overflow ? !isChanged : meter.countTokens(fixed) > limits.contextWindow;
    if (isHopeless) throw this.cannotFit(request, fixed);
    return isChanged ? this.prepared(fixed) : undefined;
  }

  private prepared(fixed?: FixedPart): PreparedContext {
    const { messages } = buildPathContext(this.parts.log.path());
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
