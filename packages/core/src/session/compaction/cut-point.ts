import { join, normalize, relative, resolve } from "node:path";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import type {
  AssistantMessage,
  Message,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "../../types.ts";
import { contextEntries } from "../context-builder.ts";
import type { CompactionDetails, SessionEntry } from "../types.ts";
import { withoutUndone } from "../undone-compactions.ts";
import { cutMiddle, MARKER_CHARACTERS } from "./summary-request.ts";
import { CHARACTERS_PER_TOKEN, countCharacters } from "./tokens.ts";

/**
 * Splits a path of entries into the part that a summary replaces and the part that stays. Indices are those of the
 * path, without what `withoutUndone` leaves out.
 */
export interface CutPointResult {
  /** The first entry to keep: a user message, or an assistant message where a turn is split. */
  firstKeptIndex: number;
  /**
   * Starts with the entries that the last compaction kept, without the compaction itself. Empty if there is nothing
   * to summarize.
   */
  entriesToSummarize: SessionEntry[];
  entriesToKeep: SessionEntry[];
  /** True when the first kept entry is in the middle of a turn, whose beginning is summarized. */
  isSplitTurn: boolean;
  /**
   * The start of the split turn: its user message, or the first entry to summarize if an earlier compaction has
   * replaced that message. Undefined when no turn is split.
   */
  turnStartIndex: number | undefined;
}

/**
 * Finds the cut point of a conversation so that about `keepRecentTokens` of its end are kept: the first user message at
 * or after the entry that exceeds them. If there is none, because the last turn alone is larger, it is the nearest
 * assistant message, otherwise the last possible cut before that; so the last assistant message is always kept, with
 * its results. A call is never separated from its result, whatever is between them. A conversation that fits is kept
 * completely. @param branch the entries of one branch from its root on.
 */
export function findCutPoint(branch: readonly SessionEntry[], keepRecentTokens: number): CutPointResult {
  const pathEntries = withoutUndone(branch);
  const start = contextEntries(pathEntries).summarized.length;
  const limit = findLimit(pathEntries, { start, keepRecentTokens });
  const cut = limit === undefined ? undefined : chooseCut(pathEntries, { start, limit });
  if (cut === undefined) return keepAll(pathEntries, start);
  const isSplitTurn = roleOf(pathEntries[cut]) !== "user";
  return {
    firstKeptIndex: cut,
    entriesToSummarize: withoutCompactions(pathEntries.slice(start, cut)),
    entriesToKeep: withoutCompactions(pathEntries.slice(cut)),
    isSplitTurn,
    turnStartIndex: isSplitTurn ? findTurnStart(pathEntries, start, cut) : undefined,
  };
}

function keepAll(entries: readonly SessionEntry[], start: number): CutPointResult {
  const first = entries.findIndex(({ type }, index) => index >= start && type !== "compaction");
  return {
    firstKeptIndex: first < 0 ? entries.length : first,
    entriesToSummarize: [],
    entriesToKeep: withoutCompactions(entries.slice(start)),
    isSplitTurn: false,
    turnStartIndex: undefined,
  };
}

/** The entry at which the newest ones exceed `keepRecentTokens`; undefined when all of them fit. */
function findLimit(
  entries: readonly SessionEntry[],
  { start, keepRecentTokens }: { start: number; keepRecentTokens: number },
): number | undefined {
  let characters = 0;
  for (let index = entries.length - 1; index >= start; index--) {
    characters += countEntry(entries[index]);
    if (characters > 0 && Math.ceil(characters / CHARACTERS_PER_TOKEN) > keepRecentTokens) return index;
  }
  return undefined;
}

function chooseCut(
  entries: readonly SessionEntry[],
  { start, limit }: { start: number; limit: number },
): number | undefined {
  const isInsideCall = markInsideCalls(entries, start);
  const canBeCut = (index: number, role: Message["role"]) =>
    !isInsideCall[index] && roleOf(entries[index]) === role;
  // There is nothing to summarize before the first message.
  let first = start;
  while (first < limit && messageOf(entries[first]) === undefined) first++;
  let firstAssistant: number | undefined;
  for (let index = Math.max(limit, first + 1); index < entries.length; index++) {
    if (canBeCut(index, "user")) return index;
    if (canBeCut(index, "assistant")) firstAssistant ??= index;
  }
  if (firstAssistant !== undefined) return firstAssistant;
  for (let index = limit - 1; index > first; index--) {
    if (canBeCut(index, "user") || canBeCut(index, "assistant")) return index;
  }
  return undefined;
}

/** 1 for every entry that cannot be the first kept one, because it would separate a call from its result. */
function markInsideCalls(entries: readonly SessionEntry[], start: number): Uint8Array {
  const inside = new Uint8Array(entries.length);
  const messages = entries.map((entry, index) => (index < start ? undefined : messageOf(entry)));
  for (const { callIndex, resultIndex } of pairCalls(messages))
    inside.fill(1, callIndex + 1, resultIndex + 1);
  return inside;
}

function findTurnStart(entries: readonly SessionEntry[], start: number, cut: number): number {
  for (let index = cut - 1; index >= start; index--) if (roleOf(entries[index]) === "user") return index;
  return keepAll(entries, start).firstKeptIndex;
}

function countEntry(entry: SessionEntry | undefined): number {
  if (entry?.type === "branch_summary") return entry.summary.length;
  return entry?.type === "message" ? countCharacters(entry.message) : 0;
}

function withoutCompactions(entries: readonly SessionEntry[]): SessionEntry[] {
  return entries.filter(({ type }) => type !== "compaction");
}

function roleOf(entry: SessionEntry | undefined): Message["role"] | undefined {
  return messageOf(entry)?.role;
}

function messageOf(entry: SessionEntry | undefined): Message | undefined {
  return entry?.type === "message" ? entry.message : undefined;
}

const TITLE = "## User Messages\nWhat the user said in the summarized part, verbatim, oldest first.";
const BLANK_LINE = "\n\n";

// If not all messages fit, none may take the space of this many others.
const LARGEST_SHARE = 1 / 5;

/** The space for `(12345 messages left out here)` and its blank line. */
const GAP_CHARACTERS = 36;

/**
 * The section with the user's messages, verbatim and in order. If not everything fits into `budgetTokens` (of four
 * characters), messages above their share, at least a fifth, are reduced to head and tail, the oldest and newest
 * messages are taken first, from both ends in turn, and omitted ones are counted in their places. Each message is
 * wrapped in a tag that occurs in none of them. Empty without messages.
 */
export function formatPinnedMessages(messages: readonly UserMessage[], budgetTokens: number): string {
  const measured = measureAll(messages);
  if (measured.length === 0) return "";
  const tag = freeTagOf(measured);
  const room = budgetTokens * CHARACTERS_PER_TOKEN - TITLE.length;
  const shown = fitTexts(measured, { room, wrapping: wrappingOf(tag) });
  return [TITLE, ...shown.map((part) => (typeof part === "number" ? gap(part) : wrapInTag(tag, part)))].join(
    BLANK_LINE,
  );
}

/** The length of the section with every message complete. */
export function countPinnedCharacters(messages: readonly UserMessage[]): number {
  const measured = measureAll(messages);
  if (measured.length === 0) return 0;
  const wrapping = wrappingOf(freeTagOf(measured));
  const characters = measured.reduce((sum, { length }) => sum + length + wrapping, TITLE.length);
  // A budget counts whole tokens, and a partly filled last token is lost.
  return characters + CHARACTERS_PER_TOKEN;
}

/** A message with a text, and what is counted of it again at every compaction. */
interface MeasuredText {
  message: UserMessage;
  /** Characters of its text. */
  length: number;
  /** The numbers of the tags that occur in it. */
  tags: readonly number[];
}

const measuredTexts = new WeakMap<UserMessage, MeasuredText>();

function measureAll(messages: readonly UserMessage[]): MeasuredText[] {
  const measured: MeasuredText[] = [];
  for (const message of messages) {
    const known = measuredTexts.get(message) ?? measure(message);
    measuredTexts.set(message, known);
    if (known.length > 0) measured.push(known);
  }
  return measured;
}

/** A blank text counts as an empty one. */
function measure(message: UserMessage): MeasuredText {
  const text = textOf(message);
  const isBlank = text.trim() === "";
  return { message, length: isBlank ? 0 : text.length, tags: isBlank ? [] : findTags(text, "user-message") };
}

function freeTagOf(texts: readonly MeasuredText[]): string {
  const used = new Set<number>();
  for (const { tags } of texts) for (const tag of tags) used.add(tag);
  return toFreeTag(used, "user-message");
}

function wrappingOf(tag: string): number {
  return wrapInTag(tag, "").length + BLANK_LINE.length;
}

/** The texts that fit, with the number of omitted ones between them. `wrapping` is the overhead of each text. */
function fitTexts(
  texts: readonly MeasuredText[],
  { room, wrapping }: { room: number; wrapping: number },
): (string | number)[] {
  const fits = (lengthOf: (index: number) => number) => {
    let sum = 0;
    for (let index = 0; index < texts.length && sum <= room; index++) sum += lengthOf(index) + wrapping;
    return sum <= room;
  };
  const lengthOf = (index: number) => texts[index]?.length ?? 0;
  if (fits(lengthOf)) return texts.map(({ message }) => textOf(message));
  const longest = Math.floor(room * Math.max(LARGEST_SHARE, 1 / texts.length)) - wrapping;
  const cut = new Map<number, string>();
  for (const [index, { message, length }] of texts.entries())
    if (length > longest) cut.set(index, cutMiddle(textOf(message), longest - MARKER_CHARACTERS));
  const cutLengthOf = (index: number) => cut.get(index)?.length ?? lengthOf(index);
  const cutTextOf = ({ message }: MeasuredText, index: number) => cut.get(index) ?? textOf(message);
  if (fits(cutLengthOf)) return texts.map(cutTextOf);
  let left = room - GAP_CHARACTERS;
  const taken = new Uint8Array(texts.length);
  for (const index of fromBothEnds(texts.length)) {
    // No text is shorter than one character.
    if (left <= wrapping + GAP_CHARACTERS) break;
    const cost = cutLengthOf(index) + wrapping + GAP_CHARACTERS;
    if (cost > left) continue;
    taken[index] = 1;
    left -= cost;
  }
  return withGaps(texts, taken, cutTextOf);
}

function* fromBothEnds(length: number): Generator<number> {
  for (let first = 0, last = length - 1; first <= last; first++, last--) {
    yield first;
    if (last > first) yield last;
  }
}

function withGaps<T>(
  texts: readonly T[],
  taken: Uint8Array,
  show: (text: T, index: number) => string,
): (string | number)[] {
  const parts: (string | number)[] = [];
  let leftOut = 0;
  for (const [index, text] of texts.entries()) {
    if (!taken[index]) {
      leftOut++;
      continue;
    }
    if (leftOut > 0) parts.push(leftOut);
    leftOut = 0;
    parts.push(show(text, index));
  }
  return leftOut > 0 ? [...parts, leftOut] : parts;
}

function textOf({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  const parts = content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "image" ? "[image]" : "";
  });
  return parts.filter((part) => part !== "").join("\n");
}

type TagName = "user-message" | "pinned-message";

/** The name, or with a number appended if a text contains it as a tag: so no text can end its own tag. */
export function findFreeTag(texts: readonly string[], name: TagName): string {
  return toFreeTag(new Set(texts.flatMap((text) => findTags(text, name))), name);
}

/** The numbers of the tags in a text; the one without a number is 1. */
function findTags(text: string, name: TagName): number[] {
  const pattern = new RegExp(`<[\\s/]*${name}(?:-(\\d{1,6})(?!\\d))?`, "gi");
  return [...text.matchAll(pattern)].map(([, number = "1"]) => Number(number));
}

function toFreeTag(used: ReadonlySet<number>, name: TagName): string {
  let free = 1;
  while (used.has(free)) free++;
  return free === 1 ? name : `${name}-${free}`;
}

/** The text between the tags, on its own lines. */
export function wrapInTag(tag: string, text: string): string {
  return `<${tag}>\n${text}\n</${tag}>`;
}

function gap(count: number): string {
  return `(${count} ${count === 1 ? "message" : "messages"} left out here)`;
}

const READING_TOOLS: ReadonlySet<string> = new Set(["read"]);
const MODIFYING_TOOLS: ReadonlySet<string> = new Set(["write", "edit", "apply_patch"]);

/** The base of relative paths in tool calls; both paths are absolute. */
export interface FileBase {
  /** The working directory of the tools. */
  cwd: string;
  /** The user's home directory, which a leading `~/` names. */
  home?: string | undefined;
}

/**
 * The files that calls without an error have read and modified, together with those of the previous compaction:
 * sorted, each file once (`./a` and `a` are one), and modified files not among the read ones.
 * @param base with it, the absolute, the relative and the `~/` path of a file are one as well, relative to `cwd`
 * where the file is below it and absolute elsewhere; without it, only the spellings of one path are. A read file that
 * links lead to, or from, is a modified one as well, as far as the results of the calls say where links led.
 */
export function extractFileOperations(
  messages: readonly Message[],
  previousDetails?: CompactionDetails,
  base?: FileBase,
): CompactionDetails {
  const nameOf = (path: string) => nameFile(path, base);
  const readFiles = new Map(previousDetails?.readFiles.map((path) => [nameOf(path), nameOf(path)]));
  const modifiedFiles = new Set(previousDetails?.modifiedFiles.map(nameOf));
  const changed = new Set(modifiedFiles);
  for (const { call, result } of pairCalls(messages)) {
    for (const given of result.isError ? [] : pathsOf(call)) addFile(call, result, nameOf(given));
  }
  const onlyRead = [...readFiles].filter((names) => !names.some((name) => changed.has(name)));
  return { readFiles: onlyRead.map(([path]) => path).sort(), modifiedFiles: [...modifiedFiles].sort() };

  function addFile(call: ToolCallBlock, result: ToolResultMessage, path: string): void {
    // A model may have called the tool by another name, which the result does not contain.
    const isOurName = READING_TOOLS.has(call.name) || MODIFYING_TOOLS.has(call.name);
    const toolName = isOurName ? call.name : result.toolName;
    const realPath = realPathOf(result, base) ?? path;
    if (READING_TOOLS.has(toolName)) readFiles.set(path, realPath);
    else if (MODIFYING_TOOLS.has(toolName)) {
      modifiedFiles.add(path);
      changed.add(path).add(realPath);
    }
  }
}

function pathsOf({ input }: ToolCallBlock): string[] {
  if (typeof input.patch === "string") {
    const named = input.patch.matchAll(/^\*\*\* (?:(?:Add|Delete|Update) File|Move to): (.+)$/gm);
    return [...named].map(([, path = ""]) => path.trim());
  }
  const path = input.file_path ?? input.path ?? input.filePath ?? input.filename ?? input.file;
  return typeof path === "string" && path.trim() !== "" ? [path] : [];
}

/** Where the links in the path of a call led; undefined if there were none. */
function realPathOf({ metadata }: ToolResultMessage, base: FileBase | undefined): string | undefined {
  const realPath = metadata?.realPath;
  return typeof realPath === "string" ? nameFile(realPath, base) : undefined;
}

/** One name for each file; resolved as the tools resolve a path. */
function nameFile(path: string, base: FileBase | undefined): string {
  if (!base) return normalize(path);
  const { cwd, home } = base;
  const isInHome = home !== undefined && (path === "~" || path.startsWith("~/"));
  const absolute = isInHome ? join(home, path.slice(1)) : resolve(cwd, path);
  const fromCwd = relative(cwd, absolute);
  const isBelow = fromCwd !== "" && fromCwd !== ".." && !fromCwd.startsWith("../");
  return isBelow ? fromCwd : absolute;
}

/**
 * Formats the lists that follow a summary: one path per line, each list in its tag; an empty list is omitted.
 * @param maxCharacters for the paths; omitted ones are counted, and read files are omitted first.
 */
export function formatFileOperations(
  { readFiles, modifiedFiles }: CompactionDetails,
  { maxCharacters = Number.POSITIVE_INFINITY }: { maxCharacters?: number } = {},
): string {
  const modified = takeLines(modifiedFiles, maxCharacters);
  const read = takeLines(readFiles, maxCharacters - modified.characters);
  return (
    formatList("Files Read", "read-files", read) + formatList("Files Modified", "modified-files", modified)
  );
}

interface TakenLines {
  lines: string[];
  characters: number;
  leftOut: number;
}

function takeLines(paths: readonly string[], maxCharacters: number): TakenLines {
  const lines: string[] = [];
  let characters = 0;
  for (const path of paths) {
    const line = toLine(path);
    if (characters + line.length + 1 > maxCharacters) break;
    lines.push(line);
    characters += line.length + 1;
  }
  return { lines, characters, leftOut: paths.length - lines.length };
}

/** On one line, and never similar to a tag: the path may come from the repository's author. */
function toLine(path: string): string {
  return revealInvisible(path).replace(/<(?=[/!?a-z])/gi, "\\u{3c}");
}

function formatList(title: string, tag: string, { lines, leftOut }: TakenLines): string {
  if (lines.length === 0 && leftOut === 0) return "";
  const note = leftOut > 0 ? `\n(${leftOut} more ${leftOut === 1 ? "file" : "files"} left out here)` : "";
  return `\n\n## ${title}\n${[`<${tag}>`, ...lines, `</${tag}>`].join("\n")}${note}`;
}

/** A tool call with its result, and their positions. */
interface AnsweredCall {
  call: ToolCallBlock;
  callIndex: number;
  result: ToolResultMessage;
  resultIndex: number;
}

/** The calls with one id, in the newest message that contains any. */
interface WaitingCalls {
  callIndex: number;
  calls: ToolCallBlock[];
}

/**
 * The calls with results, in the order of the results. An id may be reused in a later message: a result answers the
 * newest call with that id, and each call only once.
 * @param messages undefined elements are skipped; they preserve the positions of the others.
 */
export function pairCalls(messages: readonly (Message | undefined)[]): AnsweredCall[] {
  const waiting = new Map<string, WaitingCalls>();
  const answered: AnsweredCall[] = [];
  for (const [index, message] of messages.entries()) {
    if (message?.role === "assistant") addCalls(waiting, message, index);
    if (message?.role !== "tool_result") continue;
    const newest = waiting.get(message.toolCallId);
    const call = newest?.calls.shift();
    if (newest && call) {
      answered.push({ call, callIndex: newest.callIndex, result: message, resultIndex: index });
    }
  }
  return answered;
}

/** A model may use an id twice in one message. */
function addCalls(
  waiting: Map<string, WaitingCalls>,
  { content }: AssistantMessage,
  callIndex: number,
): void {
  for (const block of content) {
    if (block.type !== "tool_call") continue;
    const newest = waiting.get(block.id);
    if (newest?.callIndex === callIndex) newest.calls.push(block);
    else waiting.set(block.id, { callIndex, calls: [block] });
  }
}
