import type { ProviderError } from "../../provider/errors.ts";
import type { Message } from "../../types.ts";
import { contextMessages, messagesOf } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import { findCutPoint } from "./cut-point.ts";
import { type ContextLimits, limitsAfterRefusal, narrowLimits } from "./limits.ts";
import {
  countContextTokens,
  countFixedCharacters,
  estimateFixedTokens,
  type FixedPart,
  findAnsweredTokens,
  MOST_TOKENS_PER_CHARACTER,
  sumCharacters,
  type TokenEstimator,
} from "./tokens.ts";

/** True if a request of this many tokens leaves less than `reserveTokens` of the window for its answer. */
export function shouldCompact(
  estimatedTokens: number,
  contextWindow: number,
  reserveTokens: number,
): boolean {
  return estimatedTokens > contextWindow - reserveTokens;
}

// Smaller windows hardly exist any more.
const LEAST_LEARNED_WINDOW = 4_096;

/** Measures the next request of a session against the limits of its model, and learns those limits from refusals. */
export class RequestMeter {
  constructor(
    private readonly log: SessionLog,
    private readonly estimator: TokenEstimator,
    private knownLimits: ContextLimits,
  ) {}

  /** The configured limits, narrowed by the provider's refusals. */
  get limits(): ContextLimits {
    return this.knownLimits;
  }

  /** Tokens of the next request without its new prompt. */
  countTokens(fixed: FixedPart): number {
    const size = { fixedCharacters: countFixedCharacters(fixed), messages: this.messages() };
    return countContextTokens(this.log.path(), size, this.estimator);
  }

  /** Characters of its messages. */
  countConversation(): number {
    return sumCharacters(this.messages());
  }

  /** Tokens for this many characters of the request. */
  estimate(characters: number): number {
    return this.estimator.estimate(characters);
  }

  /** True if the request would reach into the reserve for the answer. */
  isTooLong(fixed: FixedPart, limits?: ContextLimits): boolean {
    return this.exceedsLimit(this.countTokens(fixed), limits);
  }

  /** The same for a request of the given size. */
  exceedsLimit(tokens: number, { contextWindow, reserveTokens } = this.limits): boolean {
    return shouldCompact(tokens, contextWindow, reserveTokens);
  }

  /** A refused request is larger than estimated: only the worst case is safe then. */
  mayBeTooLong(fixed: FixedPart): boolean {
    const characters = countFixedCharacters(fixed) + this.countConversation();
    return this.exceedsLimit(characters * MOST_TOKENS_PER_CHARACTER);
  }

  /** True if there is room once everything that can be summarized is. */
  hasRoomOnceSummarized(fixed: FixedPart): boolean {
    const { length } = messagesOf(findCutPoint(this.log.path(), 0).entriesToKeep);
    const messages = this.messages();
    const kept = messages.slice(messages.length - length);
    const keptTokens = this.estimator.estimate(sumCharacters(kept));
    return !this.exceedsLimit(estimateFixedTokens(fixed) + keptTokens);
  }

  /**
   * Called when the window is smaller than assumed. The size that the provider states, or else that of the refused
   * request, holds for the rest of the session; but a provider that refuses a tiny request is faulty, probably only
   * temporarily.
   * @returns the limits for the request that replaces the refused one.
   */
  learnFromRefusal(fixed: FixedPart, { contextWindow }: ProviderError): ContextLimits {
    const refused = this.countTokens(fixed);
    const answered = findAnsweredTokens(this.log.path());
    const limits = limitsAfterRefusal(this.limits, { refused, answered });
    this.knownLimits = narrowLimits(this.limits, contextWindow ?? Math.max(refused, LEAST_LEARNED_WINDOW));
    return limits;
  }

  /** As accurate as the ids of a request if only lengths matter, and cheaper. */
  private messages(): Message[] {
    return contextMessages(this.log.path()).map(({ message }) => message);
  }
}
