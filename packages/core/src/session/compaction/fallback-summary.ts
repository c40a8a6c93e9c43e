import { type Message, messageText, type UserMessage } from "../../types.ts";
import { extractFileOperations, type FileBase, pairCalls } from "./cut-point.ts";
import { cleanSummary, cutMiddle, headOfText } from "./summary-request.ts";

/** At four characters per token, about one and a half times the limit of a model's summary. */
const MAX_CHARACTERS = 24_000;
const MAX_PREVIOUS_CHARACTERS = 16_000;
// The limits of the parts if there is space for everything.
const REQUEST_CHARACTERS = 600;
const REPLY_CHARACTERS = 600;
const ERROR_CHARACTERS = 1_000;
const FILES_CHARACTERS = 1_500;
const LAST_TEXTS = 3;
const LAST_ERRORS = 3;

/** The summary that it continues and its maximum length. */
interface FallbackSummaryOptions {
  /** The summary that this one replaces. */
  previousSummary?: string | undefined;
  /**
   * The approximate limit of the whole summary in characters; 24,000 by default. Below 2,000 it still has all its
   * headings.
   */
  maxCharacters?: number | undefined;
  /** The base of relative paths in tool calls. */
  fileBase?: FileBase | undefined;
}

/**
 * Builds a summary in the standard form from the messages without a model, for when no model gives a usable one: the
 * first and the latest request, the agent's last reply, the last errors verbatim, and the previous summary.
 * Deterministic.
 */
export function createFallbackSummary(
  messages: readonly Message[],
  { previousSummary, maxCharacters = MAX_CHARACTERS, fileBase }: FallbackSummaryOptions = {},
): string {
  const share = Math.min(1, maxCharacters / MAX_CHARACTERS);
  const sections = [
    [HEADINGS.goal, ...requestLines(messages, REQUEST_CHARACTERS * share)],
    [HEADINGS.constraints, TEXTS.constraints],
    [HEADINGS.progress, HEADINGS.done, ...doneLines(messages, FILES_CHARACTERS * share, fileBase)],
    [HEADINGS.inProgress, ...replyLines(messages, REPLY_CHARACTERS * share)],
    [HEADINGS.blocked, blockedLine(messages)],
    [HEADINGS.decisions, TEXTS.noDecisions],
    [HEADINGS.dynamics, TEXTS.noDynamics],
    [HEADINGS.next, TEXTS.nextSteps],
    [HEADINGS.context, ...contextLines(messages, ERROR_CHARACTERS * share)],
  ];
  const own = cleanSummary(sections.map((lines) => lines.join("\n")).join("\n\n"));
  const room = Math.min(MAX_PREVIOUS_CHARACTERS, maxCharacters - own.length);
  return cleanSummary([own, ...earlierSections(own, previousSummary ?? "", room)].join("\n\n"));
}

/**
 * The previous summaries: one by a model is included unchanged, fallback summaries only with their facts, so that they
 * are not nested.
 */
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
  if (!first || !latest) return [TEXTS.noRequest];
  const lineOf = (message: UserMessage) => toLine(messageText(message), maxCharacters);
  if (first === latest) return [`- The user asked: ${lineOf(first)}`];
  return [`- The user asked first: ${lineOf(first)}`, `- The user asked last: ${lineOf(latest)}`];
}

function doneLines(
  messages: readonly Message[],
  maxCharacters: number,
  fileBase: FileBase | undefined,
): string[] {
  const counts = new Map<string, number>();
  const answered = pairCalls(messages);
  for (const { call } of answered) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  if (counts.size === 0) return [TEXTS.noTool];
  const failed = answered.filter(({ result }) => result.isError).length;
  const tools = toLine([...counts].map(([name, count]) => `${count} × ${name}`).join(", "), maxCharacters);
  const { modifiedFiles } = extractFileOperations(messages, undefined, fileBase);
  return [
    `- [x] Tool calls: ${tools}${failed > 0 ? `; ${failed} of them failed` : ""}`,
    ...(modifiedFiles.length > 0
      ? [`- [x] Modified: ${toLine(modifiedFiles.join(", "), maxCharacters)}`]
      : []),
  ];
}

function replyLines(messages: readonly Message[], maxCharacters: number): string[] {
  const texts: string[] = [];
  for (let index = messages.length - 1; index >= 0 && texts.length < LAST_TEXTS; index--) {
    const message = messages[index];
    const line = message?.role === "assistant" ? toLine(messageText(message), maxCharacters) : "";
    if (line !== "") texts.unshift(`- [ ] The agent said: ${line}`);
  }
  return texts.length > 0 ? texts : [TEXTS.nothingSaid];
}

function blockedLine(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === "tool_result");
  const isBlocked = last?.role === "tool_result" && last.isError;
  return isBlocked ? `- The last call failed: ${toLine(last.toolName, 100)}, see below` : TEXTS.notBlocked;
}

function contextLines(messages: readonly Message[], maxCharacters: number): string[] {
  const errors = messages
    .filter((message) => message.role === "tool_result")
    .filter(({ isError }) => isError);
  return [
    TEXTS.madeBy,
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
  // A longer text is truncated anyway, and a pasted log may have megabytes.
  const line = headOfText(text, maxCharacters * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxCharacters ? `${headOfText(line, maxCharacters)}…` : line;
}

/** The fixed lines of a fallback summary; they contain no facts. */
const TEXTS = {
  constraints: "- They are in the user's own messages, which are kept beside this summary.",
  noRequest: "- (no request of the user's in this part)",
  noTool: "- (no tool was used in this part)",
  nothingSaid: "- (the agent said nothing in this part)",
  notBlocked: "- (unknown)",
  noDecisions: "- (not recorded)",
  noDynamics: "- (not recorded)",
  nextSteps:
    "1. Continue with the latest request; look at the files first, this summary knows little of them.",
  madeBy: "- This summary was made by program, since no model gave one that could be used.",
  olderLeftOut: "- (older ones are left out, since there is no room for them)",
} as const;

/** The headings of such a summary in their order. */
const HEADINGS = {
  goal: "## Goal",
  constraints: "## Constraints & Preferences",
  progress: "## Progress",
  done: "### Done",
  inProgress: "### In Progress",
  blocked: "### Blocked",
  decisions: "## Key Decisions",
  dynamics: "## Conversation Dynamics",
  next: "## Next Steps",
  context: "## Critical Context",
  /** Facts of earlier fallback summaries, oldest first. */
  earlierSteps: "## Earlier Steps",
  /** The model's summary before those. */
  earlierSummary: "## Earlier Summary",
} as const;

const FIXED_LINES: ReadonlySet<string> = new Set(["", ...Object.values(HEADINGS), ...Object.values(TEXTS)]);
const STALE_LINE = /^- The last call failed: .*, see below$/;
const FACT =
  /^- (?:The user asked(?: first| last)?: |\[x\] (?:Tool calls|Modified): |\[ \] The agent said: )/;
const ERROR = /^- Error of .*:$/;
const FENCE = /^`{3,}$/;

/** A parsed fallback summary, so that the next one does not quote it completely. */
interface EarlierFacts {
  /** The facts of fallback summaries, oldest first and without duplicates; an error with its text in a fence. */
  facts: string[];
  /** Some of them were omitted before. */
  isIncomplete: boolean;
  /** The summary before those that was written by a model, verbatim. Empty if there is none. */
  summary: string;
}

/**
 * Parses a fallback summary and those nested in it. A summary with other contents is kept completely, so that nothing
 * is lost.
 */
function readEarlierFacts(summary: string): EarlierFacts {
  let facts: string[] = [];
  let rest = summary.trim();
  let isIncomplete = false;
  for (let layer = readLayer(rest); layer !== undefined; layer = readLayer(rest)) {
    facts = [...layer.facts, ...facts];
    rest = layer.summary;
    isIncomplete ||= layer.isIncomplete;
  }
  return { facts: [...new Set(facts)], isIncomplete, summary: rest };
}

/** The facts of the outermost summary; undefined if it is not a fallback summary. */
function readLayer(text: string): EarlierFacts | undefined {
  const lines = text.split("\n");
  const own: string[] = [];
  const earlier: string[] = [];
  let facts = own;
  let isByProgram = false;
  let index = 0;
  for (; index < lines.length && lines[index] !== HEADINGS.earlierSummary; index++) {
    const line = lines[index] ?? "";
    if (line === HEADINGS.earlierSteps) facts = earlier;
    isByProgram ||= line === TEXTS.madeBy;
    if (FACT.test(line)) facts.push(line);
    else if (ERROR.test(line)) {
      const end = findFenceEnd(lines, index + 1);
      if (end === undefined) return undefined;
      facts.push(lines.slice(index, end + 1).join("\n"));
      index = end;
    } else if (!FIXED_LINES.has(line) && !STALE_LINE.test(line)) return undefined;
  }
  if (!isByProgram) return undefined;
  const isIncomplete = lines.slice(0, index).includes(TEXTS.olderLeftOut);
  return {
    facts: [...earlier, ...own],
    isIncomplete,
    summary: lines
      .slice(index + 1)
      .join("\n")
      .trim(),
  };
}

function findFenceEnd(lines: readonly string[], start: number): number | undefined {
  const fence = lines[start];
  if (fence === undefined || !FENCE.test(fence)) return undefined;
  const end = lines.indexOf(fence, start + 1);
  return end < 0 ? undefined : end;
}

/** The newest facts that fit into `maxCharacters`, in order; empty if there are none. */
function formatEarlierFacts(
  { facts, isIncomplete }: Omit<EarlierFacts, "summary">,
  maxCharacters: number,
): string {
  if (facts.length === 0 && !isIncomplete) return "";
  const kept: string[] = [];
  let room = maxCharacters - HEADINGS.earlierSteps.length - TEXTS.olderLeftOut.length - 2;
  for (const fact of facts.toReversed()) {
    room -= fact.length + 1;
    if (room < 0) break;
    kept.unshift(fact);
  }
  const note = isIncomplete || kept.length < facts.length ? [TEXTS.olderLeftOut] : [];
  return [HEADINGS.earlierSteps, ...note, ...kept].join("\n");
}
