import type { Model, StreamContext } from "../../provider/types.ts";
import { cutMiddle, MARKER_CHARACTERS } from "./cut-middle.ts";
import { CHARACTERS_PER_TOKEN } from "./estimate-tokens.ts";
import { withoutRequestTags } from "./reserved-text.ts";
import SUMMARY_PROMPT from "./summary-prompt.md" with { type: "text" };
import UPDATE_PROMPT from "./summary-update-prompt.md" with { type: "text" };

/** Of a summary, in tokens; about three times what it is asked for. */
const MAX_TOKENS = 4_096;
const MAX_WORDS = 1_200;
const WORDS_PER_TOKEN = 1 / 2;

// Code and European languages stay far below; where that is wrong the provider says so, and the part is halved.
const CAUTIOUS_TOKENS_PER_CHARACTER = 0.4;

// Tags, the closing sentences and what a provider adds of its own.
const OVERHEAD_CHARACTERS = 1_000;
const MIN_TRANSCRIPT_CHARACTERS = 1_000;

/** What the request for a summary says. */
export interface SummaryRequest {
  /** What the summary has to cover besides the transcript. */
  previousSummary: string | undefined;
  transcript: string;
  /** True when the conversation goes on behind the transcript and is summarised next. */
  isContinued: boolean;
  /** What the user wants it to keep above all. */
  focus: string | undefined;
  /** What was wrong with the summary before this one. */
  correction: string | undefined;
  /** What a tokenizer makes of the conversation, where that is known; a cautious ratio applies where it is lower. */
  tokensPerCharacter?: number | undefined;
  /** At most so many words are asked for; as many as the model has room for when left out. */
  maxWords?: number | undefined;
}

/** Tokens that the answer may have: never more than a quarter of the window, since the question needs the rest. */
export function maxSummaryTokens({ contextWindow, maxOutputTokens }: Model): number {
  return Math.min(MAX_TOKENS, maxOutputTokens, Math.floor(contextWindow / 4));
}

/** Words that a summary is asked for; they leave the model half of its room as a reserve. */
export function maxSummaryWords(model: Model): number {
  return Math.min(MAX_WORDS, Math.floor(maxSummaryTokens(model) * WORDS_PER_TOKEN));
}

/** Above so many characters a server did not heed the limit for the answer. */
export function maxSummaryCharacters(model: Model): number {
  return maxSummaryTokens(model) * CHARACTERS_PER_TOKEN * 2;
}

/** How much of a conversation fits into one request, in characters. */
export interface SummaryRoom {
  transcript: number;
  previousSummary: number;
}

/** Each of the two gets 1,000 characters at the least, however little room there is. */
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

/** The request as a model gets it: one user message that holds everything, and no tools. */
export function toSummaryContext(model: Model, request: SummaryRequest): StreamContext {
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
      ? ["The conversation goes on behind this transcript; the rest of it is added to your summary next."]
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
