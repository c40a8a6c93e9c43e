import type { PreparedContext, UpcomingRequest } from "../../agent/types.ts";
import { ProviderError, type StreamContext } from "../../provider/types.ts";
import type { Message } from "../../types.ts";
import { CHARACTERS_PER_TOKEN } from "../compaction/estimate-tokens.ts";
import { findCutPoint } from "../compaction/find-cut-point.ts";
import { shouldCompact } from "../compaction/should-compact.ts";
import { buildPathContext, contextMessages } from "../context-builder.ts";
import { type PruningLimits, planPruning } from "../pruning.ts";
import type { SessionLog } from "../session-log.ts";
import type { Calibrator } from "./calibrator.ts";
import { CompactionAttempts } from "./compaction-attempts.ts";
import { type Compactor, messagesOf } from "./compactor.ts";
import type { CompactionOutcome, CompactOptions } from "./context-guard.ts";
import { countContextTokens, findAnsweredTokens, findCountedReply, sumCharacters } from "./context-tokens.ts";
import { type ContextUsage, describeContext } from "./context-usage.ts";
import { countFixedCharacters, MOST_TOKENS_PER_CHARACTER } from "./has-room.ts";
import { LAST_RESORTS } from "./last-resort.ts";
import { type ContextLimits, limitsAfterRefusal, narrowLimits } from "./settings.ts";

// Each time half as much is kept word for word, in the end nothing but the newest reply.
const MAX_HALVINGS = 6;

// Hardly a summary is shorter, so nothing would be gained.
const MIN_CONVERSATION_CHARACTERS = 1_000;

// Smaller windows are hardly to be found any more.
const LEAST_LEARNED_WINDOW = 4_096;

/** The part of a request that is the same in all of them. */
export type FixedPart = Pick<StreamContext, "systemPrompt" | "tools">;

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
  /** As configured, and narrowed by what the provider has refused. */
  private limits: ContextLimits;

  constructor(private readonly parts: ContextWindowParts) {
    this.limits = parts.limits;
  }

  /** See `PrepareContext`. @throws ProviderError of kind `context_overflow` when nothing can make the request fit. */
  async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { calibrator, log } = this.parts;
    const { limits } = this;
    calibrator.learn(request.context, findCountedReply(log.path())?.message);
    this.assertFixedPartFits(request.context);
    if (request.overflow) return this.shorten(request);
    const answered = findAnsweredTokens(log.path());
    if (answered !== undefined && !this.exceedsLimit(answered)) this.attempts.endRow();
    const isPruned = this.prune(limits.pruning) || this.pruneNewest(request.context);
    if (this.isTooLong(request.context)) return this.shorten(request);
    this.attempts.endRow();
    return isPruned ? this.prepared() : undefined;
  }

  /** Summarises what there is, whether it has to be or not. */
  async compact(options: CompactOptions & { fixed: FixedPart }): Promise<CompactionOutcome> {
    const { fixed, ...request } = options;
    const messages = this.contextMessages();
    if (sumCharacters(messages) < MIN_CONVERSATION_CHARACTERS) return { kind: "nothing" };
    const tokens = this.countTokens(fixed, messages);
    // Of a short conversation at least a half is summarised: somebody asked for it.
    const most = Math.floor(Math.max(0, tokens - this.countFixed(fixed)) / 2);
    for (let halvings = 0; halvings <= MAX_HALVINGS; halvings++) {
      const keepRecentTokens = halve(Math.min(most, this.limits.keepRecentTokens), halvings);
      const outcome = await this.parts.compactor.compact({
        ...request,
        fixed,
        tokens,
        limits: this.limits,
        keepRecentTokens,
      });
      if (outcome.kind !== "nothing") return outcome;
    }
    return { kind: "nothing" };
  }

  /** What fills the window now. */
  describe(fixed: FixedPart): ContextUsage {
    const { calibrator, log } = this.parts;
    const { limits } = this;
    return describeContext(log.path(), { fixed, limits, calibrator });
  }

  /** A run begins: what an earlier one tried in vain may be tried again. */
  startRun(): void {
    this.attempts.endRow();
  }

  saveCalibration(): void {
    this.parts.calibrator.save();
  }

  /** Summarises until the request fits; one that was refused is made again after the first time. */
  private async shorten(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    const { compactor, flush } = this.parts;
    if (!request.overflow && !this.attempts.areUsedUp) await flush?.(request);
    let fixed: FixedPart = request.context;
    const limits = request.overflow ? this.learnFromRefusal(fixed, request.overflow) : this.limits;
    let isChanged = false;
    for (let halvings = 0; halvings <= MAX_HALVINGS && !this.attempts.areUsedUp; halvings++) {
      const outcome = await compactor.compact({
        ...request,
        fixed,
        tokens: this.countTokens(fixed),
        limits,
        keepRecentTokens: halve(limits.keepRecentTokens, halvings),
      });
      if (outcome.kind === "aborted") return undefined;
      if (outcome.kind === "nothing") continue;
      this.attempts.note();
      isChanged = true;
      fixed = { ...fixed, systemPrompt: outcome.systemPrompt };
      const isShort = !this.isTooLong(fixed, limits) && !(request.overflow && this.mayBeTooLong(fixed));
      if (isShort) return this.prepared(fixed);
      // It is asked for once more only, so there is no second try.
      if (request.overflow) break;
    }
    // What is left is the newest turn: of its results head and tail have to do.
    const fits = () => !this.isTooLong(fixed, limits) && !(request.overflow && this.mayBeTooLong(fixed));
    isChanged = this.pruneUntil(fits) || isChanged;
    const isHopeless = request.overflow ? !isChanged : this.countTokens(fixed) > limits.contextWindow;
    if (isHopeless) throw this.cannotFit(request, fixed);
    return isChanged ? this.prepared(fixed) : undefined;
  }

  /**
   * The window is smaller than it was thought to be. What the provider states holds for the rest of the session, too, else
   * what was refused; but a provider that refuses next to nothing is out of order, and will not be for long.
   */
  private learnFromRefusal(fixed: FixedPart, { contextWindow }: ProviderError): ContextLimits {
    const refused = this.countTokens(fixed);
    const limits = limitsAfterRefusal(this.limits, {
      refused,
      answered: findAnsweredTokens(this.parts.log.path()),
    });
    this.limits = narrowLimits(this.limits, contextWindow ?? Math.max(refused, LEAST_LEARNED_WINDOW));
    return limits;
  }

  private prune(settings: PruningLimits): boolean {
    if (!settings.enabled) return false;
    const { log } = this.parts;
    const plan = planPruning(log.path(), settings);
    if (plan) log.append((place) => ({ type: "prune", ...place, ...plan }));
    return plan !== undefined;
  }

  /** Where a summary of all that can be summarised would not do, head and tail of the newest results have to. */
  private pruneNewest(fixed: FixedPart): boolean {
    const { calibrator, log } = this.parts;
    const { limits } = this;
    if (!limits.pruning.enabled || !this.isTooLong(fixed)) return false;
    const leavesRoom = () => {
      const { length } = messagesOf(findCutPoint(log.path(), 0).entriesToKeep);
      const kept = contextMessages(log.path()).slice(-length);
      const keptTokens = calibrator.estimator.estimate(sumCharacters(kept.map(({ message }) => message)));
      return !this.exceedsLimit(this.countFixed(fixed) + keptTokens);
    };
    return this.pruneUntil(leavesRoom);
  }

  /** Shortens the newest results no more than it takes; true when anything was shortened. */
  private pruneUntil(fits: () => boolean): boolean {
    let isChanged = false;
    for (const settings of LAST_RESORTS) {
      if (fits()) return isChanged;
      isChanged = this.prune(settings) || isChanged;
    }
    return isChanged;
  }

  private isTooLong(fixed: FixedPart, limits?: ContextLimits): boolean {
    return this.exceedsLimit(this.countTokens(fixed), limits);
  }

  private exceedsLimit(tokens: number, { contextWindow, reserveTokens } = this.limits): boolean {
    return shouldCompact(tokens, contextWindow, reserveTokens);
  }

  /** What a provider has refused is more than it was estimated at: then nothing but the worst case is safe. */
  private mayBeTooLong(fixed: FixedPart): boolean {
    const { contextWindow, reserveTokens } = this.limits;
    const characters = countFixedCharacters(fixed) + sumCharacters(this.contextMessages());
    return shouldCompact(characters * MOST_TOKENS_PER_CHARACTER, contextWindow, reserveTokens);
  }

  /** By the rule of thumb: what was learned from other text, such as columns of numbers, says nothing of prose and schemas. */
  private countFixed(fixed: FixedPart): number {
    return Math.ceil(countFixedCharacters(fixed) / CHARACTERS_PER_TOKEN);
  }

  private countTokens(fixed: FixedPart, messages = this.contextMessages()): number {
    const { calibrator, log } = this.parts;
    const size = { fixedCharacters: countFixedCharacters(fixed), messages };
    return countContextTokens(log.path(), size, calibrator.estimator);
  }

  private prepared(fixed?: FixedPart): PreparedContext {
    const { messages } = buildPathContext(this.parts.log.path());
    return { messages, systemPrompt: fixed?.systemPrompt };
  }

  /** As good as those of a request where only their length is asked for, and found sooner. */
  private contextMessages(): Message[] {
    return contextMessages(this.parts.log.path()).map(({ message }) => message);
  }

  private assertFixedPartFits(fixed: FixedPart): void {
    const { modelId } = this.parts;
    const { limits } = this;
    const tokens = this.countFixed(fixed);
    if (tokens <= limits.maxFixedTokens) return;
    throw new ProviderError(
      `System prompt, instructions, knowledge and tools take about ${tokens} tokens, more than half of the window of ` +
        `${limits.contextWindow} tokens of ${modelId}. Shorten the instructions, or choose a model with a larger window.`,
      "context_overflow",
    );
  }

  private cannotFit({ overflow }: UpcomingRequest, fixed: FixedPart): ProviderError {
    const { modelId } = this.parts;
    const { limits } = this;
    const said = overflow ? ` The provider said: ${overflow.message}` : "";
    const why = this.attempts.areUsedUp
      ? "several summaries in a row have made no room"
      : "nothing more can be summarised";
    return new ProviderError(
      `The conversation does not fit into the context window of ${modelId}: about ${this.countTokens(fixed)} of ` +
        `${limits.contextWindow} tokens, and ${why}.${said}`,
      "context_overflow",
    );
  }
}

function halve(tokens: number, times: number): number {
  return times === MAX_HALVINGS ? 0 : Math.floor(tokens / 2 ** times);
}
