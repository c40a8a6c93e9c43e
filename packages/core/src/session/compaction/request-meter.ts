import type { ProviderError } from "../../provider/errors.ts";
import type { Message } from "../../types.ts";
import { contextMessages } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import type { SessionEntry } from "../types.ts";
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

// A refusal without the size of the request does not say by how much it was too long.
const UNSTATED_MARGIN = 1.25;

// Smaller windows are hardly used any more.
const LEAST_LEARNED_WINDOW = 4_096;

/** Measures the next request of a session against the limits of its model, and learns those limits from refusals. */
export class RequestMeter {
  /** Tokens per character of the request that was refused last. */
  private refusedRatio: number = MOST_TOKENS_PER_CHARACTER;

  constructor(
    private readonly log: SessionLog,
    private readonly estimator: TokenEstimator,
    private knownLimits: ContextLimits,
  ) {}

  /** The configured limits, narrowed by the provider's refusals. */
  get limits(): ContextLimits {
    return this.knownLimits;
  }

  /**
   * Tokens of the next request without its new prompt.
   * @param path the conversation; by default the session's.
   */
  countTokens(fixed: FixedPart, path: readonly SessionEntry[] = this.log.conversation()): number {
    const messages = contextMessages(path).map(({ message }) => message);
    const size = { fixedCharacters: countFixedCharacters(fixed), messages };
    return countContextTokens(path, size, this.estimator);
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

  /** The same check for a request of the given size. */
  exceedsLimit(tokens: number, { contextWindow, reserveTokens } = this.limits): boolean {
    return shouldCompact(tokens, contextWindow, reserveTokens);
  }

  /** The characters by which the request reaches into the reserve for the answer; 0 if it does not. */
  countExcess(fixed: FixedPart, { contextWindow, reserveTokens } = this.limits): number {
    const tokens = this.countTokens(fixed) - (contextWindow - reserveTokens);
    return Math.max(0, Math.ceil(tokens / this.estimator.ratio));
  }

  /**
   * The excess of a request that replaces a refused one, based on the tokens per character that the refusal indicates.
   */
  countExcessAfterRefusal(fixed: FixedPart, limits = this.limits): number {
    const characters = countFixedCharacters(fixed) + this.countConversation();
    const allowed = Math.floor((limits.contextWindow - limits.reserveTokens) / this.refusedRatio);
    return Math.max(0, characters - allowed, this.countExcess(fixed, limits));
  }

  /** The characters that would remain too long if everything but the `kept` entries were summarized. */
  countExcessBesides(kept: ReadonlySet<string>, fixed: FixedPart): number {
    const messages = contextMessages(this.log.conversation()).filter(({ entry }) => kept.has(entry.id));
    const keptTokens = this.estimator.estimate(sumCharacters(messages.map(({ message }) => message)));
    const { contextWindow, reserveTokens } = this.limits;
    const tokens = estimateFixedTokens(fixed) + keptTokens - (contextWindow - reserveTokens);
    return Math.max(0, Math.ceil(tokens / this.estimator.ratio));
  }

  /** The entries that no summary can replace, because they belong to the newest exchange. */
  findAlwaysKept(): ReadonlySet<string> {
    return new Set(findCutPoint(this.log.conversation(), 0).entriesToKeep.map(({ id }) => id));
  }

  /**
   * Called when the window is smaller than assumed. The size in the provider's message, or else the size of the refused
   * request, applies for the rest of the session; but a provider that refuses a tiny request is faulty, probably only
   * temporarily.
   * @returns the limits for the request that replaces the refused one.
   */
  learnFromRefusal(fixed: FixedPart, { contextWindow, requestTokens }: ProviderError): ContextLimits {
    const estimated = this.countTokens(fixed);
    const refused = requestTokens ?? estimated;
    const characters = countFixedCharacters(fixed) + this.countConversation();
    const least = Math.max(estimated, contextWindow ?? 0) * UNSTATED_MARGIN;
    this.refusedRatio = (requestTokens ?? least) / Math.max(1, characters);
    const answered = findAnsweredTokens(this.log.conversation());
    const limits =
      contextWindow === undefined
        ? limitsAfterRefusal(this.limits, { refused, answered })
        : narrowLimits(this.limits, contextWindow);
    this.knownLimits = narrowLimits(this.limits, contextWindow ?? Math.max(refused, LEAST_LEARNED_WINDOW));
    return limits;
  }

  /** As accurate as a request with ids if only lengths matter, and cheaper. */
  private messages(): Message[] {
    return contextMessages(this.log.conversation()).map(({ message }) => message);
  }
}
