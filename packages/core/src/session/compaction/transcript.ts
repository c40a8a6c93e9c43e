import type {
  AssistantMessage,
  ContentBlock,
  Message,
  ToolCallBlock,
  ToolResultMessage,
} from "../../types.ts";
import { cutMiddle, headOfText } from "./summary-request.ts";

/** The prefix of the line before each message; no other line begins with it. */
const MESSAGE_MARK = "@@@";

/** The split turn, and how much is shortened. */
interface TranscriptOptions {
  /** The index of the message at which a turn begins whose later part is not in the transcript. */
  splitTurnAt?: number | undefined;
  /** Shortens calls and results to a fifth of the normal length. */
  isBrief?: boolean | undefined;
}

/** Characters kept of long content; more is not worth its space. */
interface KeptCharacters {
  call: number;
  result: number;
  /** Longer, because errors are most often needed again. */
  error: number;
}

const KEPT: KeptCharacters = { call: 1_000, result: 3_000, error: 6_000 };
const KEPT_IN_BRIEF: KeptCharacters = { call: 200, result: 600, error: 1_200 };

const MARKED_LINES = new RegExp(`^${MESSAGE_MARK}`, "gm");

const SPLIT_TURN =
  `${MESSAGE_MARK} note: the turn that begins here is not over. ` +
  "Its later part stays verbatim and follows your summary; say what it needs to be understood.";

/**
 * Formats messages as text for a model: texts in full, calls and results cut to their head and tail, thinking
 * left out, `[image]` for images.
 */
export function serializeTranscript(messages: readonly Message[], options: TranscriptOptions = {}): string {
  return toTranscriptPieces(messages, options).join("\n\n");
}

/** The transcript message by message; messages without content are left out. */
export function toTranscriptPieces(
  messages: readonly Message[],
  { splitTurnAt, isBrief = false }: TranscriptOptions = {},
): string[] {
  const kept = isBrief ? KEPT_IN_BRIEF : KEPT;
  const pieces: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (index === splitTurnAt) pieces.push(SPLIT_TURN);
    const piece = toPiece(message, kept);
    if (piece !== undefined) pieces.push(piece);
  }
  return pieces;
}

function toPiece(message: Message, kept: KeptCharacters): string | undefined {
  switch (message.role) {
    case "user":
      return withHeader("user", contentText(message.content, kept));
    case "assistant":
      return withHeader(`assistant${describeEnd(message)}`, contentText(message.content, kept));
    case "tool_result":
      return resultPiece(message, kept);
  }
}

function resultPiece(
  { toolName, output, images = [], isError }: ToolResultMessage,
  kept: KeptCharacters,
): string | undefined {
  const text = cutMiddle(output, isError ? kept.error : kept.result);
  const shown = images.length > 0 ? [text, ...images.map(() => "[image]")].filter(isShown).join("\n") : text;
  return withHeader(`${isError ? "error" : "result"} of ${toOneLine(toolName)}`, shown || "(no output)");
}

function withHeader(what: string, text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const unmarked = text.includes(MESSAGE_MARK) ? text.replace(MARKED_LINES, ` ${MESSAGE_MARK}`) : text;
  return `${MESSAGE_MARK} ${what}\n${unmarked.toWellFormed()}`;
}

function describeEnd({ stopReason }: AssistantMessage): string {
  if (stopReason === "aborted") return " (interrupted by the user)";
  if (stopReason === "error") return " (failed)";
  return stopReason === "max_tokens" ? " (cut off)" : "";
}

function contentText(content: string | readonly ContentBlock[], kept: KeptCharacters): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => blockText(block, kept))
    .filter(isShown)
    .join("\n");
}

function isShown(text: string): boolean {
  return text !== "";
}

function blockText(block: ContentBlock, kept: KeptCharacters): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return "[image]";
    case "tool_call":
      return callText(block, kept);
    case "thinking":
    case "opaque":
      return "";
  }
}

function callText({ name, input, invalidInput }: ToolCallBlock, kept: KeptCharacters): string {
  return `call ${toOneLine(name)}(${cutMiddle(invalidInput ?? JSON.stringify(input), kept.call)})`;
}

function toOneLine(name: string): string {
  return name.replace(/\s+/g, " ");
}

const SEPARATOR = "\n\n";
const CONTINUED = `${MESSAGE_MARK} (the message before, continued)\n`;
// Space for the line above and some text after it.
const MIN_CHARACTERS = 200;

/** The part of a transcript for one request. */
interface TranscriptPart {
  text: string;
  /** The remaining pieces. */
  rest: string[];
}

/**
 * Takes as many whole pieces of a transcript as fit into `maxCharacters` (at least 200). A piece that is longer is
 * split; the rest begins with its remainder. Nothing is left out.
 */
export function takeTranscriptPart(pieces: readonly string[], maxCharacters: number): TranscriptPart {
  const limit = Math.max(MIN_CHARACTERS, Math.floor(maxCharacters));
  let count = 0;
  let length = 0;
  for (const piece of pieces) {
    const longer = length + piece.length + (count > 0 ? SEPARATOR.length : 0);
    if (longer > limit) break;
    length = longer;
    count++;
  }
  if (count > 0 || pieces.length === 0) {
    return { text: pieces.slice(0, count).join(SEPARATOR), rest: pieces.slice(count) };
  }
  const [first = "", ...others] = pieces;
  const text = headOfText(first, limit);
  return { text, rest: [CONTINUED + first.slice(text.length), ...others] };
}

/** Splits a transcript into parts of at most `maxCharacters` (at least 200), in order and complete. */
export function splitTranscript(pieces: readonly string[], maxCharacters: number): string[] {
  const parts: string[] = [];
  for (let rest = [...pieces]; rest.length > 0; ) {
    const part = takeTranscriptPart(rest, maxCharacters);
    parts.push(part.text);
    rest = part.rest;
  }
  return parts;
}

/**
 * The pieces of a transcript without those in its middle if it is longer than `maxCharacters`; omitted ones are counted
 * in their place; the last pieces matter more than the first.
 */
export function shortenTranscript(pieces: readonly string[], maxCharacters: number): string[] {
  const lengthOf = (piece: string) => piece.length + SEPARATOR.length;
  if (pieces.reduce((sum, piece) => sum + lengthOf(piece), 0) <= maxCharacters) return [...pieces];
  const bounded = pieces.map((piece) => cutMiddle(piece, maxCharacters / 8));
  const head = countFitting(bounded, maxCharacters / 4, lengthOf);
  const tail = countFitting(bounded.slice(head).reverse(), maxCharacters / 2, lengthOf);
  const leftOut = bounded.length - head - tail;
  const note = `${MESSAGE_MARK} note: ${leftOut} messages are left out here for lack of room.`;
  return [...bounded.slice(0, head), note, ...bounded.slice(bounded.length - tail)];
}

function countFitting(
  pieces: readonly string[],
  maxCharacters: number,
  lengthOf: (piece: string) => number,
): number {
  let length = 0;
  const end = pieces.findIndex((piece) => {
    length += lengthOf(piece);
    return length > maxCharacters;
  });
  return end < 0 ? pieces.length : end;
}
