import { toProviderError } from "../../provider/errors.ts";
import type { Model, StreamFunction } from "../../provider/types.ts";
import type { Message } from "../../types.ts";
import { CHARACTERS_PER_TOKEN } from "./estimate-tokens.ts";
import { createFallbackSummary } from "./fallback-summary.ts";
import { type GenerateSummaryOptions, generateSummary } from "./generate-summary.ts";
import { maxSummaryCharacters, maxSummaryTokens } from "./summary-request.ts";
import { validateSummary } from "./validate-summary.ts";

// With the one request of the second attempt these are the five that a request may have.
const FIRST_RETRIES = 3;

/** A model with less room for its summary leaves no more to one made by program. */
const FULL_SUMMARY_TOKENS = 4_096;

/** `model.maxOutputTokens` bounds the summary too, even one that is made by program. */
export interface SummarizeOptions extends Omit<GenerateSummaryOptions, "correction"> {
  streamFunction: StreamFunction;
  model: Model;
}

/** A summary that can be used, whoever has written it. */
export interface SummaryOutcome {
  summary: string;
  /** Made by program, since the model gave none that could be used. */
  isFallback: boolean;
  /** Why it is a fallback. */
  failure?: string;
}

type Attempt =
  | { summary: string }
  /** `correction` is for the model, where it can do better. */
  | { failure: string; isWorthRepeating: boolean; correction?: string };

/**
 * A summary of messages: from the model, asked a second time when the first one is no usable summary or the request
 * failed in passing, otherwise made by program.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarize(
  messages: readonly Message[],
  options: SummarizeOptions,
): Promise<SummaryOutcome> {
  const maxRetries = Math.min(FIRST_RETRIES, options.maxRetries ?? FIRST_RETRIES);
  let attempt = await attemptSummary(messages, { ...options, maxRetries });
  if (!("summary" in attempt) && attempt.isWorthRepeating) {
    attempt = await attemptSummary(messages, { ...options, maxRetries: 0, correction: attempt.correction });
  }
  if ("summary" in attempt) return { summary: attempt.summary, isFallback: false };
  const { previousSummary, model } = options;
  const maxTokens = maxSummaryTokens(model);
  const maxCharacters = maxTokens < FULL_SUMMARY_TOKENS ? maxTokens * CHARACTERS_PER_TOKEN : undefined;
  const summary = createFallbackSummary(messages, { previousSummary, maxCharacters });
  return { summary, isFallback: true, failure: attempt.failure };
}

async function attemptSummary(
  messages: readonly Message[],
  { streamFunction, model, ...options }: SummarizeOptions & Pick<GenerateSummaryOptions, "correction">,
): Promise<Attempt> {
  try {
    const summary = await generateSummary(messages, streamFunction, model, options);
    const verdict = validateSummary(summary, { maxCharacters: maxSummaryCharacters(model) });
    if (verdict.isValid) return { summary };
    return { failure: verdict.problem, isWorthRepeating: true, correction: verdict.problem };
  } catch (error) {
    options.signal?.throwIfAborted();
    const { message, isRetryable, retryAfterMs = 0 } = toProviderError(error);
    return { failure: message, isWorthRepeating: isRetryable && retryAfterMs === 0 };
  }
}
