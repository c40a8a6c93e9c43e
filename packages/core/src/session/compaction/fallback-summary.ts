import type { Message, UserMessage } from "../../types.ts";
import { messageText } from "../../types.ts";
import { cutMiddle, headOf } from "./cut-middle.ts";
import { formatEarlierFacts, readEarlierFacts } from "./earlier-facts.ts";
import { HEADINGS, WORDINGS } from "./fallback-wordings.ts";
import { extractFileOperations } from "./file-operations.ts";
import { pairCalls } from "./pair-calls.ts";
import { cleanSummary } from "./reserved-text.ts";

/** At four characters a token about half as much again as a model's summary may have. */
const MAX_CHARACTERS = 24_000;
const MAX_PREVIOUS_CHARACTERS = 16_000;
// What the parts may have where there is room for everything.
const REQUEST_CHARACTERS = 600;
const SAID_CHARACTERS = 600;
const ERROR_CHARACTERS = 1_000;
const FILES_CHARACTERS = 1_500;
const LAST_TEXTS = 3;
const LAST_ERRORS = 3;

/** What it continues and how long it may get. */
export interface FallbackSummaryOptions {
  /** The summary that this one takes the place of. */
  previousSummary?: string | undefined;
  /** Of the whole summary, about; 24,000 when left out. Below 2,000 it still has all its headings. */
  maxCharacters?: number | undefined;
}

/**
 * A summary in the usual form that is put together from the messages by program, for when no model gives a usable one:
 * the first and the latest request, what the agent last said, the last errors word for word, and the summary before it.
 * The same messages give the same text.
 */
export function createFallbackSummary(
  messages: readonly Message[],
  { previousSummary, maxCharacters = MAX_CHARACTERS }: FallbackSummaryOptions = {},
): string {
  const share = Math.min(1, maxCharacters / MAX_CHARACTERS);
  const sections = [
    [HEADINGS.goal, ...requestLines(messages, REQUEST_CHARACTERS * share)],
    [HEADINGS.constraints, WORDINGS.constraints],
    [HEADINGS.progress, HEADINGS.done, ...doneLines(messages, FILES_CHARACTERS * share)],
    [HEADINGS.inProgress, ...saidLines(messages, SAID_CHARACTERS * share)],
    [HEADINGS.blocked, blockedLine(messages)],
    [HEADINGS.decisions, WORDINGS.noDecisions],
    [HEADINGS.next, WORDINGS.nextSteps],
    [HEADINGS.context, ...contextLines(messages, ERROR_CHARACTERS * share)],
  ];
  const own = cleanSummary(sections.map((lines) => lines.join("\n")).join("\n\n"));
  const room = Math.min(MAX_PREVIOUS_CHARACTERS, maxCharacters - own.length);
  return cleanSummary([own, ...earlierSections(own, previousSummary ?? "", room)].join("\n\n"));
}

/** What was before: one by a model as it is, those by program with their facts alone, so that none stands in another. */
function earlierSections(own: string, previousSummary: string, maxCharacters: number): string[] {
  if (previousSummary.trim() === "") return [];
  const { facts, isIncomplete, summary } = readEarlierFacts(previousSummary);
  const known = new Set(readEarlierFacts(own).facts);
  const older = { facts: facts.filter((fact) => !known.has(fact)), isIncomplete };
  const steps = formatEarlierFacts(older, Math.max(maxCharacters / 2, maxCharacters - summary.length));
  const earlier =
    summary === "" ? "" : `${HEADINGS.earlierSummary}\n${cutMiddle(summary, maxCharacters - steps.length)}`;
  return [steps, earlier].filter((section) => section !== "");
}

function requestLines(messages: readonly Message[], maxCharacters: number): string[] {
  const requests = messages.filter(
    (message): message is UserMessage => message.role === "user" && messageText(message).trim() !== "",
  );
  const [first] = requests;
  const latest = requests.at(-1);
  if (!first || !latest) return [WORDINGS.noRequest];
  const lineOf = (message: UserMessage) => toLine(messageText(message), maxCharacters);
  if (first === latest) return [`- The user asked: ${lineOf(first)}`];
  return [`- The user asked first: ${lineOf(first)}`, `- The user asked last: ${lineOf(latest)}`];
}

function doneLines(messages: readonly Message[], maxCharacters: number): string[] {
  const counts = new Map<string, number>();
  const answered = pairCalls(messages);
  for (const { call } of answered) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  if (counts.size === 0) return [WORDINGS.noTool];
  const failed = answered.filter(({ result }) => result.isError).length;
  const tools = toLine([...counts].map(([name, count]) => `${count} × ${name}`).join(", "), maxCharacters);
  const { modifiedFiles } = extractFileOperations(messages);
  return [
    `- [x] Tool calls: ${tools}${failed > 0 ? `; ${failed} of them failed` : ""}`,
    ...(modifiedFiles.length > 0
      ? [`- [x] Modified: ${toLine(modifiedFiles.join(", "), maxCharacters)}`]
      : []),
  ];
}

function saidLines(messages: readonly Message[], maxCharacters: number): string[] {
  const texts: string[] = [];
  for (let index = messages.length - 1; index >= 0 && texts.length < LAST_TEXTS; index--) {
    const message = messages[index];
    const line = message?.role === "assistant" ? toLine(messageText(message), maxCharacters) : "";
    if (line !== "") texts.unshift(`- [ ] The agent said: ${line}`);
  }
  return texts.length > 0 ? texts : [WORDINGS.nothingSaid];
}

function blockedLine(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === "tool_result");
  const isBlocked = last?.role === "tool_result" && last.isError;
  return isBlocked ? `- The last call failed: ${toLine(last.toolName, 100)}, see below` : WORDINGS.notBlocked;
}

function contextLines(messages: readonly Message[], maxCharacters: number): string[] {
  const errors = messages
    .filter((message) => message.role === "tool_result")
    .filter(({ isError }) => isError);
  return [
    WORDINGS.madeBy,
    ...errors.slice(-LAST_ERRORS).flatMap(({ toolName, output }) => {
      const text = cutMiddle(output.trim(), maxCharacters);
      return [`- Error of ${toLine(toolName, 100)}:`, ...fenced(text)];
    }),
  ];
}

/** In a fence that the text cannot close. */
function fenced(text: string): string[] {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return [fence, text, fence];
}

/** The beginning of a text on one line. */
function toLine(text: string, maxCharacters: number): string {
  // What is longer than this is cut anyway, and a pasted log may have megabytes.
  const line = headOf(text, maxCharacters * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxCharacters ? `${headOf(line, maxCharacters)}…` : line;
}
