import type { ProviderError } from "../../provider/types.ts";
import type { Message } from "../../types.ts";
import { findCutPoint } from "../compaction/find-cut-point.ts";
import { shouldCompact } from "../compaction/should-compact.ts";
import type { TokenEstimator } from "../compaction/token-estimator.ts";
import { contextMessages, messagesOf } from "../context-builder.ts";
import type { SessionLog } from "../session-log.ts";
import {
  countContextTokens,
  estimateFixedTokens,
  findAnsweredTokens,
  sumCharacters,
} from "./context-tokens.ts";
import { countFixedCharacters, type FixedPart } from "./fixed-part.ts";
import { MOST_TOKENS_PER_CHARACTER } from "./has-room.ts";
import { type ContextLimits, limitsAfterRefusal, narrowLimits } from "./settings.ts";

// Smaller windows are hardly to be found any more.
const LEAST_LEARNED_WINDOW = 4_096;

/** Measures the next request of a session against the limits of its model, and learns those from what is refused. */
export class RequestMeter {
  constructor(
    private readonly log: SessionLog,
    private readonly estimator: TokenEstimator,
    private knownLimits: ContextLimits,
  ) {}

  /** As configured, and narrowed by what the provider has refused. */
  get limits(): ContextLimits {
    return this.knownLimits;
  }

  /** Tokens of the next request, without what is said next. */
  countTokens(fixed: FixedPart): number {
    const size = { fixedCharacters: countFixedCharacters(fixed), messages: this.messages() };
    return countContextTokens(this.log.path(), size, this.estimator);
  }

  /** Characters of its messages. */
  countConversation(): number {
    return sumCharacters(this.messages());
  }

  /** True when it would reach into what is kept free for the answer. */
  isTooLong(fixed: FixedPart, limits?: ContextLimits): boolean {
    return this.exceedsLimit(this.countTokens(fixed), limits);
  }

  /** The same for a request of so many tokens. */
  exceedsLimit(tokens: number, { contextWindow, reserveTokens } = this.limits): boolean {
    return shouldCompact(tokens, contextWindow, reserveTokens);
  }

  /** What a provider has refused is more than it was estimated at: then nothing but the worst case is safe. */
  mayBeTooLong(fixed: FixedPart): boolean {
    const characters = countFixedCharacters(fixed) + this.countConversation();
    return this.exceedsLimit(characters * MOST_TOKENS_PER_CHARACTER);
  }

  /** True when there is room once all that can be summarised is. */
  hasRoomOnceSummarized(fixed: FixedPart): boolean {
    const { length } = messagesOf(findCutPoint(this.log.path(), 0).entriesToKeep);
    const messages = this.messages();
    const kept = messages.slice(messages.length - length);
    const keptTokens = this.estimator.estimate(sumCharacters(kept));
    return !this.exceedsLimit(estimateFixedTokens(fixed) + keptTokens);
  }

  /**
   * The window is smaller than it was thought to be. What the provider states holds for the rest of the session, too, else
   * what was refused; but a provider that refuses next to nothing is out of order, and will not be for long.
   * @returns the limits for the request that is made in place of the refused one.
   */
  learnFromRefusal(fixed: FixedPart, { contextWindow }: ProviderError): ContextLimits {
    const refused = this.countTokens(fixed);
    const answered = findAnsweredTokens(this.log.path());
    const limits = limitsAfterRefusal(this.limits, { refused, answered });
    this.knownLimits = narrowLimits(this.limits, contextWindow ?? Math.max(refused, LEAST_LEARNED_WINDOW));
    return limits;
  }

  /** As good as those of a request where only their length is asked for, and found sooner. */
  private messages(): Message[] {
    return contextMessages(this.log.path()).map(({ message }) => message);
  }
}
