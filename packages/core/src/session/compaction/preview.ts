import { type Message, messageText, toolCallsOf } from "../../types.ts";
import type { CompactionDetails } from "../types.ts";
import { sumCharacters, type TokenEstimator } from "./tokens.ts";

/** What a compaction would do with the conversation. */
export interface CompactionPreview {
  /** The messages that a new summary would replace. */
  summarized: PreviewPart;
  /** The newest messages, which stay as they are. */
  kept: PreviewPart;
  /** The user's messages of all summarized parts, which follow the summary verbatim. */
  pinned: PreviewPart;
  /** True if not all of those messages fit, so that some are shortened or left out. */
  arePinnedShortened: boolean;
  /** The messages that the user has pinned with `SessionManager.pin`, as far as they are summarized and fit. */
  chosen: PreviewPart;
  /** The files that the summary would list. */
  files: CompactionDetails;
}

/** A part of a conversation. */
export interface PreviewPart {
  messages: number;
  /** Estimated. */
  tokens: number;
  /** The first words of its first and last message, on one line; undefined without messages. */
  first: string | undefined;
  last: string | undefined;
}

const SHOWN_CHARACTERS = 200;

/** Counts a part and quotes its ends. */
export function describePart(messages: readonly Message[], estimator: TokenEstimator): PreviewPart {
  const [first] = messages;
  const last = messages.at(-1);
  return {
    messages: messages.length,
    tokens: messages.length === 0 ? 0 : estimator.estimate(sumCharacters(messages)),
    first: first && firstWords(first),
    last: last && firstWords(last),
  };
}

/** The beginning of a message on one line, at most 200 characters; for a call without text, its name. */
export function firstWords(message: Message): string {
  const text = wordsOf(message)
    .slice(0, SHOWN_CHARACTERS * 2)
    .replace(/\s+/g, " ")
    .trim();
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
}

function wordsOf(message: Message): string {
  if (message.role === "tool_result") return `${message.toolName}: ${message.output}`;
  const text = messageText(message);
  if (text.trim() !== "" || message.role === "user") return text;
  return toolCallsOf(message)
    .map(({ name, input }) => `${name} ${JSON.stringify(input)}`)
    .join(", ");
}
