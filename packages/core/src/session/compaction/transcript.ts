import type {
  AssistantMessage,
  ContentBlock,
  Message,
  ToolCallBlock,
  ToolResultMessage,
} from "../../types.ts";
import { cutMiddle } from "./cut-middle.ts";

/** Begins the line in front of each message; no line of a message begins so. */
export const MESSAGE_MARK = "@@@";

/** What part of a turn it is of, and how short it gets. */
export interface TranscriptOptions {
  /** The index of the message with which a turn begins whose later part is not in the transcript. */
  splitTurnAt?: number | undefined;
  /** Cuts calls and results down to a fifth of what they have otherwise. */
  isBrief?: boolean | undefined;
}

/** Characters that are kept of what is long; the rest of it is worth less than the room it takes. */
interface KeptCharacters {
  call: number;
  result: number;
  /** Longer: what went wrong is what is most often asked for again. */
  error: number;
}

const KEPT: KeptCharacters = { call: 1_000, result: 3_000, error: 6_000 };
const KEPT_IN_BRIEF: KeptCharacters = { call: 200, result: 600, error: 1_200 };

const MARKED_LINES = new RegExp(`^${MESSAGE_MARK}`, "gm");

const SPLIT_TURN =
  `${MESSAGE_MARK} note: the turn that begins here is not over. ` +
  "Its later part stays word for word and follows your summary; say what it needs to be understood.";

/**
 * Messages as text for a model to read: what was said in full, calls and results cut to their head and tail, thinking
 * left out, `[image]` for images.
 */
export function serializeTranscript(messages: readonly Message[], options: TranscriptOptions = {}): string {
  return toTranscriptPieces(messages, options).join("\n\n");
}

/** The transcript message by message; one that has nothing to show is no piece. */
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
      return underMark("user", contentText(message.content, kept));
    case "assistant":
      return underMark(`assistant${howItEnded(message)}`, contentText(message.content, kept));
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
  return underMark(`${isError ? "error" : "result"} of ${onOneLine(toolName)}`, shown || "(no output)");
}

function underMark(what: string, text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const unmarked = text.includes(MESSAGE_MARK) ? text.replace(MARKED_LINES, ` ${MESSAGE_MARK}`) : text;
  return `${MESSAGE_MARK} ${what}\n${unmarked.toWellFormed()}`;
}

function howItEnded({ stopReason }: AssistantMessage): string {
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
  return `call ${onOneLine(name)}(${cutMiddle(invalidInput ?? JSON.stringify(input), kept.call)})`;
}

function onOneLine(name: string): string {
  return name.replace(/\s+/g, " ");
}
