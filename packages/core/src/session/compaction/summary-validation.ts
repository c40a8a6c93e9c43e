import { basename } from "node:path";
import type { AgentEvent, SummaryValidation } from "../../agent/types.ts";
import { type Message, messageText } from "../../types.ts";
import { extractFileOperations, type FileBase } from "./cut-point.ts";
import { LONG_CHARACTERS } from "./summary-request.ts";

// More keywords say no more about a summary than these, and a long conversation has thousands.
const MAX_KEYWORDS = 20;
// With fewer keywords a good summary may not need any of them.
const MIN_CHECKED_KEYWORDS = 4;
const MIN_MENTIONED_SHARE = 1 / 4;
const SHOWN_KEYWORDS = 3;
// A pasted file does not show what matters to the user.
const MAX_SEARCHED_CHARACTERS = 20_000;

/** `src/a.ts`, `camelCase`, `snake_case`, `ERR_CODE`, `a::b`, and anything between backticks. */
const IDENTIFIERS =
  /`([^`\n]{2,60})`|(?<![\w./-])((?:[\w$~-]+[./:_-]+)+[\w$]+|[a-z]+[A-Z][\w$]*|[A-Z][a-z]+[A-Z][\w$]*)/g;

/**
 * Checks a summary of `messages` that will be used: its length and, if a model wrote it, its content: the user's
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
    const message = `The summary has ${characters} characters, more than ${LONG_CHARACTERS}, and leaves less room for the conversation.`;
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
