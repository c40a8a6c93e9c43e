import { ProviderError } from "../../provider/errors.ts";
import type { Model, StreamFunction } from "../../provider/types.ts";
import type { Message, Usage } from "../../types.ts";
import { type AskForSummary, askUncut } from "./ask-uncut.ts";
import { cutMiddle } from "./cut-middle.ts";
import { summaryRoom } from "./summary-request.ts";
import { toTranscriptPieces } from "./transcript.ts";
import { shortenTranscript, takeTranscriptPart } from "./transcript-parts.ts";
import { validateSummary } from "./validate-summary.ts";

/** Above so many requests for one summary, calls and results are cut down further. */
const MANY_REQUESTS = 4;
/** The most there ever are; what does not fit into them is left out of the middle of the transcript. */
const MAX_REQUESTS = 24;
const MAX_HALVINGS = 3;
const MAX_FOCUS_CHARACTERS = 2_000;

/** What a summary has to take into account beside the messages; all of it is optional. */
export interface GenerateSummaryOptions {
  /** What the new summary has to cover besides the messages, and replaces. */
  previousSummary?: string | undefined;
  /** What the user wants it to keep above all. */
  focus?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The index of the message with which a turn begins whose later part stays word for word. */
  splitTurnAt?: number | undefined;
  /** What was wrong with an earlier attempt. */
  correction?: string | undefined;
  /** What the session has learned of the tokenizer; the room for the transcript is counted by it where that is less. */
  tokensPerCharacter?: number | undefined;
  /** Attempts after the first; for the retry wrapper. */
  maxRetries?: number | undefined;
  /** Called for each request with what it has cost. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/**
 * Lets a model summarise messages, which it gets as one text without tools. A text that is too long for its window goes
 * to it in parts, each of which updates the summary of those before; if one of these has not the form of a summary, it
 * is returned as it is. Whether the result is a usable summary is for `validateSummary` to say. An answer that was cut
 * off is asked for once more, shorter; one with a `correction` is the second attempt already.
 * @throws the signal's reason when that is aborted, else a ProviderError.
 */
export async function generateSummary(
  messages: readonly Message[],
  streamFunction: StreamFunction,
  model: Model,
  options: GenerateSummaryOptions = {},
): Promise<string> {
  const { previousSummary, tokensPerCharacter } = options;
  const focus = options.focus?.trim() ? cutMiddle(options.focus.trim(), MAX_FOCUS_CHARACTERS) : undefined;
  const ask = askUncut({ ...options, streamFunction, model, focus });
  const roomFor = (before: string | undefined) =>
    summaryRoom(model, { previousSummary: before, focus, tokensPerCharacter }).transcript;
  const pieces = choosePieces(messages, options, roomFor(previousSummary));
  return updateByParts(pieces, previousSummary, { ask, roomFor });
}

/** With shorter calls and results where it would take many requests otherwise. */
function choosePieces(
  messages: readonly Message[],
  { splitTurnAt }: GenerateSummaryOptions,
  room: number,
): string[] {
  const pieces = toTranscriptPieces(messages, { splitTurnAt });
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length <= room * MANY_REQUESTS) return pieces;
  return toTranscriptPieces(messages, { splitTurnAt, isBrief: true });
}

interface PartSummarizer {
  ask: AskForSummary;
  /** Characters of a transcript that fit beside the summary of what came before. */
  roomFor(before: string | undefined): number;
}

async function updateByParts(
  pieces: readonly string[],
  previousSummary: string | undefined,
  { ask, roomFor }: PartSummarizer,
): Promise<string> {
  let rest = pieces;
  let summary = previousSummary;
  let limit = Number.POSITIVE_INFINITY;
  let halvings = 0;
  for (let requests = 0; ; requests++) {
    const room = Math.min(limit, roomFor(summary));
    const requestsLeft = Math.max(1, MAX_REQUESTS - requests);
    const part = takeTranscriptPart(shortenTranscript(rest, room * requestsLeft), room);
    try {
      const updated = await ask({
        transcript: part.text,
        previousSummary: summary,
        isContinued: part.rest.length > 0,
      });
      if (part.rest.length === 0 || !validateSummary(updated).isValid) return updated;
      summary = updated;
      rest = part.rest;
    } catch (error) {
      if (!isOverflow(error) || halvings === MAX_HALVINGS) throw error;
      halvings++;
      limit = Math.floor(part.text.length / 2);
    }
  }
}

function isOverflow(error: unknown): boolean {
  return error instanceof ProviderError && error.errorType === "context_overflow";
}
