import { basename } from "node:path";
import type { AgentEvent, CompactionRung, SummaryValidation, UpcomingRequest } from "../../agent/types.ts";
import { ProviderError, toProviderError } from "../../provider/errors.ts";
import type { Model, StreamFunction } from "../../provider/types.ts";
import { type Message, messageText, type Usage } from "../../types.ts";
import { contextEntries, messagesOf } from "../context-builder.ts";
import type { SessionEntry } from "../types.ts";
import { extractFileOperations, type FileBase, formatFileOperations } from "./cut-point.ts";
import { createFallbackSummary } from "./fallback-summary.ts";
import {
  type AskForSummary,
  askUncut,
  cutMiddle,
  LONG_CHARACTERS,
  maxSummaryCharacters,
  maxSummaryTokens,
  summaryRoom,
  validateSummary,
} from "./summary-request.ts";
import { CHARACTERS_PER_TOKEN } from "./tokens.ts";
import { shortenTranscript, takeTranscriptPart, toTranscriptPieces } from "./transcript.ts";

// Together with the one request of the second attempt these are the five requests that a summary may take.
const FIRST_RETRIES = 3;

/** The fallback gets no more space than the model would have had. */
const FULL_SUMMARY_TOKENS = 4_096;

/** `model.maxOutputTokens` also limits the summary, even the fallback. */
export interface SummarizeOptions extends Omit<GenerateSummaryOptions, "correction"> {
  streamFunction: StreamFunction;
  model: Model;
  /** The base of relative paths in tool calls. */
  fileBase?: FileBase | undefined;
}

/** A usable summary, from the model or the fallback. */
interface SummaryOutcome {
  summary: string;
  /** True if the model gave no usable summary. */
  isFallback: boolean;
  /** The reason for the fallback. */
  failure?: string;
}

type Attempt =
  | { summary: string }
  /** `correction` tells the model what to improve. */
  | { failure: string; isWorthRepeating: boolean; correction?: string };

/**
 * Summarizes messages: with the model, which is asked again if the first answer is unusable or the request failed
 * temporarily, otherwise with the fallback.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarize(
  messages: readonly Message[],
  options: SummarizeOptions,
): Promise<SummaryOutcome> {
  const attempt = await askModel(messages, options);
  if ("summary" in attempt) return { summary: attempt.summary, isFallback: false };
  const { previousSummary, model, fileBase } = options;
  const maxTokens = maxSummaryTokens(model);
  const maxCharacters = maxTokens < FULL_SUMMARY_TOKENS ? maxTokens * CHARACTERS_PER_TOKEN : undefined;
  const summary = createFallbackSummary(messages, { previousSummary, maxCharacters, fileBase });
  return { summary, isFallback: true, failure: attempt.failure };
}

/** Asks one model, at most twice. */
async function askModel(messages: readonly Message[], options: SummarizeOptions): Promise<Attempt> {
  const maxRetries = Math.min(FIRST_RETRIES, options.maxRetries ?? FIRST_RETRIES);
  const attempt = await attemptSummary(messages, { ...options, maxRetries });
  if ("summary" in attempt || !attempt.isWorthRepeating) return attempt;
  return attemptSummary(messages, { ...options, maxRetries: 0, correction: attempt.correction });
}

/** A model and the function that calls it. */
export interface Summarizer {
  model: Model;
  streamFunction: StreamFunction;
}

/** The models that may write summaries. */
export interface SummarizerChoice {
  /** The session's own model. */
  own: Summarizer;
  /** A model that is asked first, usually a cheaper one; opened with each summary. */
  preferred?: (() => Promise<Summarizer>) | undefined;
}

/** The models with their requests held to a limit; see `UpcomingRequest`. */
export function limitSummarizers(
  { own, preferred }: SummarizerChoice,
  limit: UpcomingRequest["limit"],
): SummarizerChoice {
  if (!limit) return { own, preferred };
  const limited = ({ model, streamFunction }: Summarizer) => ({
    model,
    streamFunction: limit(streamFunction),
  });
  return { own: limited(own), preferred: preferred && (async () => limited(await preferred())) };
}

interface LadderOptions extends Omit<SummarizeOptions, "streamFunction" | "model" | "onUsage"> {
  /** Limits the summary besides the model's own limit. */
  maxSummaryTokens?: number | undefined;
  onUsage?: ((usage: Usage, model: Model) => void) | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
}

/**
 * Summarizes with the first of these that gives a usable summary: the preferred model, the session's own, the fallback.
 * Each summary starts with the preferred model again; the reason for each further step is reported.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarizeByLadder(
  messages: readonly Message[],
  { own, preferred }: SummarizerChoice,
  { maxSummaryTokens = Number.POSITIVE_INFINITY, onUsage, emit, ...options }: LadderOptions,
): Promise<SummaryOutcome & { rung: CompactionRung }> {
  const optionsFor = ({ model, streamFunction }: Summarizer): SummarizeOptions => ({
    ...options,
    streamFunction,
    model: { ...model, maxOutputTokens: Math.min(model.maxOutputTokens, maxSummaryTokens) },
    onUsage: (usage) => onUsage?.(usage, model),
  });
  if (preferred) {
    const attempt = await openAndAsk(messages, preferred, { optionsFor, signal: options.signal });
    if ("summary" in attempt) return { summary: attempt.summary, isFallback: false, rung: "model" };
    const message = `The session's own model writes the summary: ${attempt.failure}`;
    emit?.({ type: "notice", level: "warning", code: "compaction_model", message });
  }
  const outcome = await summarize(messages, optionsFor(own));
  return { ...outcome, rung: outcome.isFallback ? "program" : "session_model" };
}

async function openAndAsk(
  messages: readonly Message[],
  open: () => Promise<Summarizer>,
  {
    optionsFor,
    signal,
  }: { optionsFor(summarizer: Summarizer): SummarizeOptions; signal: AbortSignal | undefined },
): Promise<Attempt> {
  try {
    return await askModel(messages, optionsFor(await open()));
  } catch (error) {
    signal?.throwIfAborted();
    return { failure: error instanceof Error ? error.message : String(error), isWorthRepeating: false };
  }
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

/** If a summary needs more requests than this, calls and results are shortened further. */
const MANY_REQUESTS = 4;
/** The maximum number of requests; messages that do not fit are left out of the middle of the transcript. */
const MAX_REQUESTS = 24;
const MAX_HALVINGS = 3;
const MAX_FOCUS_CHARACTERS = 2_000;

/** Additional inputs of a summary; all of them are optional. */
export interface GenerateSummaryOptions {
  /** The summary that the new one must cover and replaces. */
  previousSummary?: string | undefined;
  /** The user's instruction what to emphasize. */
  focus?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The index of the message at which a turn begins whose later part stays verbatim. */
  splitTurnAt?: number | undefined;
  /** The problem of an earlier attempt. */
  correction?: string | undefined;
  /** The session's calibration of the tokenizer; used for the transcript's space if that gives less. */
  tokensPerCharacter?: number | undefined;
  /** Attempts after the first; for the retry wrapper. */
  maxRetries?: number | undefined;
  /** Called for each request with its usage. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/**
 * Lets a model summarize messages, which it receives as one text without tools. A text that is too long for its window
 * is sent in parts, each of which updates the previous summary; if an intermediate answer does not have the form of a
 * summary, it is returned unchanged. `validateSummary` decides whether the result is usable. A truncated answer is
 * requested once more, shorter; one with a `correction` is already the second attempt.
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

/** Calls and results are shortened further if too many requests would be needed otherwise. */
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
  /** Characters of a transcript that fit together with the previous summary. */
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

// More keywords add no information about a summary, and a long conversation has thousands.
const MAX_KEYWORDS = 20;
// With so few keywords, a good summary may need none of them.
const MIN_CHECKED_KEYWORDS = 4;
const MIN_MENTIONED_SHARE = 1 / 4;
const SHOWN_KEYWORDS = 3;
// A pasted file does not show what matters to the user.
const MAX_SEARCHED_CHARACTERS = 20_000;

/** `src/a.ts`, `camelCase`, `snake_case`, `ERR_CODE`, `a::b`, and text between backticks. */
const IDENTIFIERS =
  /`([^`\n]{2,60})`|(?<![\w./-])((?:[\w$~-]+[./:_-]+)+[\w$]+|[a-z]+[A-Z][\w$]*|[A-Z][a-z]+[A-Z][\w$]*)/g;

/**
 * Assesses a summary of `messages` that will be used: its length and, if a model wrote it, its content: the user's
 * names and the changed files should occur in it.
 */
export function assessSummary(
  { summary, failure }: { summary: string; failure?: string | undefined },
  messages: readonly Message[],
  fileBase?: FileBase,
): SummaryValidation {
  const keywords = failure === undefined ? extractKeywords(messages, fileBase) : [];
  const lower = summary.toLowerCase();
  return {
    characters: summary.length,
    isLong: summary.length > LONG_CHARACTERS,
    keywords,
    missingKeywords: keywords.filter((keyword) => !lower.includes(keyword.toLowerCase())),
    ...(failure !== undefined && { failure }),
  };
}

/** The names of modified files, then code-like words in the user's messages, the newest first; at most 20. */
export function extractKeywords(messages: readonly Message[], fileBase?: FileBase): string[] {
  const { modifiedFiles } = extractFileOperations(messages, undefined, fileBase);
  const keywords = new Set(modifiedFiles.map((path) => basename(path)));
  for (const message of messages.toReversed()) {
    if (keywords.size >= MAX_KEYWORDS) break;
    if (message.role !== "user") continue;
    const text = messageText(message).slice(0, MAX_SEARCHED_CHARACTERS);
    for (const [, quoted, bare] of text.matchAll(IDENTIFIERS)) {
      const name = (quoted ?? bare ?? "").trim();
      if (/[\p{L}]/u.test(name)) keywords.add(name.includes("/") ? basename(name) : name);
    }
  }
  return [...keywords].filter((keyword) => keyword.length > 1).slice(0, MAX_KEYWORDS);
}

/** Warnings for the user about a summary that is used nevertheless. */
export function summaryWarnings(validation: SummaryValidation): AgentEvent[] {
  const { characters, isLong, keywords, missingKeywords } = validation;
  const warnings: AgentEvent[] = [];
  if (isLong) {
    const message = `The summary has ${characters} characters, more than ${LONG_CHARACTERS}, and leaves less space for the conversation.`;
    warnings.push({ type: "notice", level: "warning", code: "summary_long", message });
  }
  const mentioned = keywords.length - missingKeywords.length;
  if (keywords.length >= MIN_CHECKED_KEYWORDS && mentioned < keywords.length * MIN_MENTIONED_SHARE) {
    const names = missingKeywords.slice(0, SHOWN_KEYWORDS).join(", ");
    const message = `The summary mentions ${mentioned} of ${keywords.length} names from the conversation (missing: ${names}, …). Read it before you rely on it.`;
    warnings.push({ type: "notice", level: "warning", code: "summary_content", message });
  }
  return warnings;
}

// A long list of files is of little use in a conversation that continues without them.
const MAX_FILE_CHARACTERS = 8_000;

/** The branch to summarize, and the models to use. */
interface BranchSummaryOptions extends SummarizerChoice {
  /** The branch's entries that are no longer part of the conversation. */
  left: readonly SessionEntry[];
  /** The base of relative paths in tool calls. */
  fileBase?: FileBase | undefined;
  signal?: AbortSignal | undefined;
  /** Called for each request with its usage. */
  onUsage?: ((usage: Usage, model: Model) => void) | undefined;
  /** Receives notices of problems with a model. */
  emit?: ((event: AgentEvent) => void) | undefined;
}

/** `summary` ends with the lists of files. */
interface MadeBranchSummary {
  summary: string;
  /** The reason why the fallback was used instead of the model. */
  failure?: string | undefined;
  /** A notice for the user. */
  warnings: AgentEvent[];
}

/**
 * Summarizes an abandoned branch, in the form of every other summary, with its files.
 * @param path of the branch, from the root on.
 * @throws only the reason of `signal`, when that is aborted.
 */
export async function summarizeBranch(
  path: readonly SessionEntry[],
  { left, own, preferred, ...options }: BranchSummaryOptions,
): Promise<MadeBranchSummary> {
  const { summary: compaction, kept } = contextEntries(path);
  const previous = compaction && left.includes(compaction) ? compaction : undefined;
  const isLeft = new Set(left);
  const messages = messagesOf(kept.filter((entry) => isLeft.has(entry)));
  const { fileBase } = options;
  const choice = { own, preferred };
  const { summary, failure } = await summarizeByLadder(messages, choice, {
    ...options,
    previousSummary: previous?.summary,
  });
  const files = extractFileOperations(messages, previous?.details, fileBase);
  return {
    summary: summary + formatFileOperations(files, { maxCharacters: MAX_FILE_CHARACTERS }),
    failure,
    warnings: summaryWarnings(assessSummary({ summary, failure }, messages, fileBase)),
  };
}
