import { ProviderError } from "../../provider/errors.ts";
import type { Model, StreamFunction } from "../../provider/types.ts";
import type { Usage } from "../../types.ts";
import { askForText, type TextAnswer } from "./ask-for-text.ts";
import { cleanSummary } from "./reserved-text.ts";
import {
  maxSummaryCharacters,
  maxSummaryTokens,
  maxSummaryWords,
  type SummaryRequest,
  toSummaryContext,
} from "./summary-request.ts";
import { isUsableWhenCut, validateSummary } from "./validate-summary.ts";

const OPEN_FENCE = /^```(?:markdown|md)?\n/;
const CUT_NOTE = "[… cut off here …]";

/** What is the same in all requests for one summary. */
export interface SummarySource extends Pick<SummaryRequest, "focus" | "tokensPerCharacter"> {
  streamFunction: StreamFunction;
  model: Model;
  /** What was wrong with an earlier attempt; there is no further one then. */
  correction?: string | undefined;
  signal?: AbortSignal | undefined;
  maxRetries?: number | undefined;
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** @throws the signal's reason or a ProviderError, also where all that could be had was cut off too early. */
export type AskForSummary = (
  part: Pick<SummaryRequest, "transcript" | "previousSummary" | "isContinued">,
) => Promise<string>;

/**
 * Asks for summaries that are whole. Where the limit for the answer cuts one off, a shorter one is asked for; if that
 * does not end either, the longer of both is taken which has all its sections up to the next steps, with a note that it
 * was cut off. After one cut the later ones are asked for short from the start.
 */
export function askUncut(source: SummarySource): AskForSummary {
  let isShort = false;
  return async (part) => {
    const request: SummaryRequest = {
      ...part,
      ...pickRequest(source),
      ...(isShort && shortened(source.model)),
    };
    const first = await askOnce(source, request);
    if (!first.isCut) return first.text;
    if (source.correction !== undefined) return chooseCut([first], source.model);
    isShort = true;
    const second = await askAgain(source, request, first);
    if (second.isCut) return chooseCut([first, second], source.model);
    const isWorse = !validateSummary(second.text).isValid && isUsable(first, source.model);
    return isWorse ? chooseCut([first], source.model) : second.text;
  };
}

function pickRequest({ focus, correction, tokensPerCharacter }: SummarySource) {
  return { focus, correction, tokensPerCharacter };
}

function shortened(model: Model): { maxWords: number } {
  return { maxWords: Math.ceil(maxSummaryWords(model) / 2) };
}

/** Fails only where the first answer is of no use either. */
async function askAgain(
  source: SummarySource,
  request: SummaryRequest,
  first: TextAnswer,
): Promise<TextAnswer> {
  const { maxWords } = shortened(source.model);
  const correction = `the summary was cut off at the limit for its length, so write a shorter one of at most ${maxWords} words, with every heading`;
  try {
    return await askOnce({ ...source, maxRetries: 0 }, { ...request, correction, maxWords });
  } catch (error) {
    source.signal?.throwIfAborted();
    if (isUsable(first, source.model)) return first;
    throw error;
  }
}

async function askOnce(source: SummarySource, request: SummaryRequest): Promise<TextAnswer> {
  const { streamFunction, model, signal, maxRetries, onUsage } = source;
  const { text, isCut } = await askForText({
    streamFunction,
    model,
    context: toSummaryContext(model, request),
    options: { signal, maxTokens: maxSummaryTokens(model), effort: "off", purpose: "summary", maxRetries },
    onUsage,
  });
  return { text: cleanSummary(isCut ? text.trim().replace(OPEN_FENCE, "") : text), isCut };
}

function chooseCut(answers: readonly TextAnswer[], model: Model): string {
  const [longest] = answers
    .filter((answer) => isUsable(answer, model))
    .toSorted((left, right) => right.text.length - left.text.length);
  if (longest) return `${longest.text}\n${CUT_NOTE}`;
  throw new ProviderError("The summary was cut off at the limit for its length.", "invalid_response");
}

function isUsable({ text }: TextAnswer, model: Model): boolean {
  return isUsableWhenCut(text, { maxCharacters: maxSummaryCharacters(model) });
}
