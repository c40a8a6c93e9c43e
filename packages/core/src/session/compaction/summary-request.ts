import { ProviderError, toProviderError } from "../../provider/errors.ts";
import type {
  Model,
  ProviderEvent,
  StreamContext,
  StreamFunction,
  StreamOptions,
} from "../../provider/types.ts";
import {
  type AssistantMessage,
  addUsage,
  EMPTY_USAGE,
  isRefusal,
  messageText,
  type Usage,
} from "../../types.ts";
import SUMMARY_PROMPT from "./summary-prompt.md" with { type: "text" };
import UPDATE_PROMPT from "./summary-update-prompt.md" with { type: "text" };
import { CHARACTERS_PER_TOKEN } from "./tokens.ts";

const MIN_CHARACTERS = 200;
/** A longer summary is used, with a warning. */
export const LONG_CHARACTERS = 8_000;
// Twice the length of 4,096 tokens of ordinary text: a server that ignores the output limit may never stop.
const MAX_CHARACTERS = 32_768;

/** The section names of the summary prompt, in any case and at any heading level. */
const SECTIONS = [
  { name: "Goal", heading: /##\s*goals?\b/i },
  { name: "Progress", heading: /##\s*progress\b/i },
  { name: "Critical Context", heading: /##\s*critical\s*context\b/i },
] as const;
const MIN_SECTIONS = 2;

/** The sections that a truncated summary needs; only Critical Context, the last section, may be missing. */
const HEADINGS_BEFORE_A_CUT = [
  /^[ \t]*##+[ \t]*goals?\b/im,
  /^[ \t]*##+[ \t]*progress\b/im,
  /^[ \t]*##+[ \t]*key\s*decisions?\b/im,
  /^[ \t]*##+[ \t]*next\s*steps?\b[^\n]*\n\s*[^\s#]/im,
];

type SummaryVerdict =
  | { isValid: true }
  /** `problem` is a clause for the model as well as for the user. */
  | { isValid: false; problem: string };

/** Checks the form of a summary: its length, and at least two of its three main sections. */
export function validateSummary(
  summary: string,
  { maxCharacters = MAX_CHARACTERS }: { maxCharacters?: number } = {},
): SummaryVerdict {
  const { length } = summary.trim();
  if (length === 0) return { isValid: false, problem: "the summary was empty" };
  if (length < MIN_CHARACTERS) {
    return { isValid: false, problem: `the summary had only ${length} characters` };
  }
  if (length > maxCharacters) {
    return { isValid: false, problem: `the summary had ${length} characters, more than ${maxCharacters}` };
  }
  const missing = SECTIONS.filter(({ heading }) => !heading.test(summary)).map(({ name }) => `"## ${name}"`);
  if (SECTIONS.length - missing.length < MIN_SECTIONS) {
    return { isValid: false, problem: `the summary lacked the sections ${missing.join(", ")}` };
  }
  return { isValid: true };
}

/** True when a truncated summary is usable: it has everything up to the beginning of its next steps. */
function isUsableWhenCut(summary: string, options: { maxCharacters?: number } = {}): boolean {
  return (
    validateSummary(summary, options).isValid &&
    HEADINGS_BEFORE_A_CUT.every((heading) => heading.test(summary))
  );
}

/** The limit of a summary in tokens; about three times the requested length. */
const MAX_TOKENS = 4_096;
const MAX_WORDS = 1_200;
const WORDS_PER_TOKEN = 1 / 2;

// The ratio of code and European languages is far lower; if the estimate is too low, the provider refuses, and the part
// is halved.
const CAUTIOUS_TOKENS_PER_CHARACTER = 0.4;

// For tags, the closing sentences and additions of the provider.
const OVERHEAD_CHARACTERS = 1_000;
const MIN_TRANSCRIPT_CHARACTERS = 1_000;

/** The content of a summary request. */
interface SummaryRequest {
  /** The summary that it must cover in addition to the transcript. */
  previousSummary: string | undefined;
  transcript: string;
  /** True if the conversation continues after the transcript and that part is summarized next. */
  isContinued: boolean;
  /** The user's instruction what to emphasize. */
  focus: string | undefined;
  /** The reason why the previous summary was unusable. */
  correction: string | undefined;
  /** The measured tokens per character, if known; a cautious ratio applies if it is lower. */
  tokensPerCharacter?: number | undefined;
  /** The maximum number of words requested; by default as many as the model has space for. */
  maxWords?: number | undefined;
}

/** Tokens for the answer: never more than a quarter of the window, since the input needs the rest. */
export function maxSummaryTokens({ contextWindow, maxOutputTokens }: Model): number {
  return Math.min(MAX_TOKENS, maxOutputTokens, Math.floor(contextWindow / 4));
}

/** The words requested for a summary; half of the model's space remains as a reserve. */
function maxSummaryWords(model: Model): number {
  return Math.min(MAX_WORDS, Math.floor(maxSummaryTokens(model) * WORDS_PER_TOKEN));
}

/** Above this many characters a server has ignored the output limit. */
export function maxSummaryCharacters(model: Model): number {
  return maxSummaryTokens(model) * CHARACTERS_PER_TOKEN * 2;
}

/** The sizes for one request, in characters. */
interface SummaryRoom {
  transcript: number;
  previousSummary: number;
}

/** Each of the two gets at least 1,000 characters, even in little space. */
export function summaryRoom(
  model: Model,
  { previousSummary = "", focus = "", tokensPerCharacter = 0 }: Partial<SummaryRequest>,
): SummaryRoom {
  const ratio = Math.max(CAUTIOUS_TOKENS_PER_CHARACTER, tokensPerCharacter);
  const tokens = Math.min(
    model.contextWindow - maxSummaryTokens(model),
    model.maxInputTokens ?? model.contextWindow,
  );
  const prompt = SUMMARY_PROMPT.length + UPDATE_PROMPT.length + OVERHEAD_CHARACTERS;
  const room = Math.floor(tokens / ratio) - prompt - focus.length;
  const forPrevious = Math.max(MIN_TRANSCRIPT_CHARACTERS, Math.floor(room / 2));
  const taken = Math.min(previousSummary.length, forPrevious);
  return { transcript: Math.max(MIN_TRANSCRIPT_CHARACTERS, room - taken), previousSummary: forPrevious };
}

/** The request for the model: a single user message with everything, and no tools. */
function toSummaryContext(model: Model, request: SummaryRequest): StreamContext {
  const { previousSummary } = request;
  const systemPrompt = [SUMMARY_PROMPT, ...(previousSummary === undefined ? [] : [UPDATE_PROMPT])]
    .map((prompt) => prompt.trim())
    .join("\n\n");
  const content = toParagraphs(model, request).join("\n\n");
  return { systemPrompt, messages: [{ role: "user", content, timestamp: 0 }], tools: [] };
}

function toParagraphs(model: Model, request: SummaryRequest): string[] {
  const { previousSummary, transcript, isContinued, focus, correction, maxWords } = request;
  const room = summaryRoom(model, request).previousSummary - MARKER_CHARACTERS;
  const words = maxWords ?? maxSummaryWords(model);
  return [
    ...(previousSummary === undefined ? [] : [wrap("previous-summary", cutMiddle(previousSummary, room))]),
    wrap("transcript", transcript),
    ...(isContinued
      ? ["The conversation continues after this transcript; the rest of it is added to your summary next."]
      : []),
    ...(focus === undefined
      ? []
      : [
          "The user wants this summary to keep above all what belongs to the following:",
          wrap("focus", focus),
        ]),
    ...(correction === undefined ? [] : [`An earlier attempt could not be used: ${correction}.`]),
    `Write the summary now, in the given form and in at most ${words} words.`,
  ];
}

function wrap(tag: string, text: string): string {
  return `<${tag}>\n${withoutRequestTags(text)}\n</${tag}>`;
}

const OPEN_FENCE = /^```(?:markdown|md)?\n/;
const CUT_NOTE = "[… cut off here …]";

/** The constant inputs of all requests for one summary. */
interface SummarySource extends Pick<SummaryRequest, "focus" | "tokensPerCharacter"> {
  streamFunction: StreamFunction;
  model: Model;
  /** The reason why an earlier attempt was unusable; there is no further attempt then. */
  correction?: string | undefined;
  signal?: AbortSignal | undefined;
  maxRetries?: number | undefined;
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** @throws the signal's reason or a ProviderError, also if every answer was truncated too early. */
export type AskForSummary = (
  part: Pick<SummaryRequest, "transcript" | "previousSummary" | "isContinued">,
) => Promise<string>;

/**
 * Requests complete summaries. If the output limit truncates one, a shorter one is requested; if that is truncated too,
 * the longer of the two that has all sections up to the next steps is used, with a note. After one truncation, later
 * summaries are requested short from the start.
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

/** Fails only if the first answer is unusable too. */
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

/** A request whose answer is only needed as text. */
interface TextQuestion {
  streamFunction: StreamFunction;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** Called once at the end with the request's cost, also after a failure. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** The text of an answer, without thinking. */
interface TextAnswer {
  text: string;
  /** The output limit was reached before the end of the answer. */
  isCut: boolean;
}

/**
 * Requests a text from a model. @throws the reason of `options.signal` as soon as that is aborted, else a
 * ProviderError.
 */
async function askForText(question: TextQuestion): Promise<TextAnswer> {
  const { streamFunction, model, context, options, onUsage } = question;
  const { signal } = options;
  signal?.throwIfAborted();
  const counter = new UsageCounter();
  try {
    const stream = streamFunction(model, context, options);
    const { message } = await untilAborted(
      stream.consume((event) => counter.note(event)),
      signal,
    );
    return { text: textOf(message), isCut: message.stopReason === "max_tokens" };
  } catch (error) {
    signal?.throwIfAborted();
    throw toProviderError(error);
  } finally {
    if (counter.isCharged) onUsage?.(counter.total);
  }
}

/** Settles like `promise`, but rejects at once on an abort: a provider may not notice it. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function textOf(message: AssistantMessage): string {
  const { model, rawStopReason, stopReason } = message;
  if (rawStopReason === "model_context_window_exceeded") {
    throw new ProviderError(`The context window of ${model} is full.`, "context_overflow");
  }
  if (isRefusal(message)) throw new ProviderError(`${model} refused to answer.`, "invalid_response");
  if (stopReason === "error" || stopReason === "aborted") {
    throw new ProviderError(`The answer of ${model} broke off.`, "invalid_response");
  }
  return messageText(message);
}

/** The cost of a request, including its retries. */
class UsageCounter {
  private before: Usage = EMPTY_USAGE;
  private current: Usage = EMPTY_USAGE;

  note(event: ProviderEvent): void {
    if (event.type === "usage") this.current = event.usage;
    else if (event.type === "done") this.current = event.message.usage;
    else if (event.type === "start" || event.type === "retry") {
      this.before = this.total;
      this.current = EMPTY_USAGE;
    }
  }

  get total(): Usage {
    return addUsage(this.before, this.current);
  }

  get isCharged(): boolean {
    return Object.values(this.total).some((tokens) => tokens > 0);
  }
}

/** Tags of the request for a summary. */
const REQUEST_TAGS = /<(?=[\s/]*(?:previous-summary|transcript|focus)\b)/gi;

/** Tags and headings of the sections that diligent appends to a summary. */
const SECTION_TAGS = /<(?=[\s/]*(?:user-message|read-files|modified-files)\b)/gi;
const SECTION_HEADINGS = /^[ \t]*#+[ \t]*(?=(?:user messages|files read|files modified)[ \t]*$)/gim;

const WHOLE_FENCE = /^```(?:markdown|md)?\n([\s\S]*)\n```$/;

/** Escapes text between tags of the request: it can neither close nor open one. Otherwise it is unchanged. */
function withoutRequestTags(text: string): string {
  return text.replace(REQUEST_TAGS, "‹");
}

/**
 * A model's summary without a surrounding fence, and without text that looks like the sections appended by diligent.
 */
export function cleanSummary(text: string): string {
  const trimmed = text.trim();
  const bare = WHOLE_FENCE.exec(trimmed)?.[1]?.trim() ?? trimmed;
  return bare.toWellFormed().replace(SECTION_TAGS, "‹").replace(SECTION_HEADINGS, "");
}

/** The longest marker that `cutMiddle` puts into a text. */
export const MARKER_CHARACTERS = 44;

/**
 * Shortens a text longer than `keptCharacters` to its beginning (two thirds of the kept text) and its end, with a line
 * between them that says how much is missing. No character is split.
 */
export function cutMiddle(text: string, keptCharacters: number): string {
  if (text.length <= keptCharacters) return text;
  const kept = Math.max(0, Math.floor(keptCharacters));
  const head = headOfText(text, Math.ceil((kept * 2) / 3));
  const tail = tailOf(text, kept - head.length);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** The first characters of a text, at most `maxCharacters`, without half a character at its end. */
export function headOfText(text: string, maxCharacters: number): string {
  const end = Math.floor(maxCharacters);
  const isTorn = text.length > end && isHighSurrogate(text.charCodeAt(end - 1));
  return text.slice(0, isTorn ? end - 1 : end);
}

function tailOf(text: string, maxCharacters: number): string {
  const start = Math.max(0, text.length - maxCharacters);
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
