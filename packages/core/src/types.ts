/** The data types that every part of diligent shares. Pure data: everything here survives a JSON roundtrip. */

/**
 * Data only one provider understands (a reasoning item, a message `phase`), carried on the block it belongs to.
 * It goes back to that provider byte for byte and is left out for every other one.
 */
export interface ProviderReplay {
  provider: string;
  data: unknown;
}

/** A text block. */
export interface TextBlock {
  type: "text";
  text: string;
  replay?: ProviderReplay;
}

/** `data` is base64 without a `data:` prefix; `mediaType` is the type the bytes really have, such as `image/png`. */
export interface ImageBlock {
  type: "image";
  source: { type: "base64"; mediaType: string; data: string };
}

/** `signature` proves to the provider that the text is its own: without it the block is never sent back. */
export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature?: string;
  replay?: ProviderReplay;
}

/**
 * `invalidInput` holds the arguments verbatim when they were not a JSON object (or were cut off). `input` is then
 * empty and the call must not be run.
 */
export interface ToolCallBlock {
  type: "tool_call";
  id: string;
  name: string;
  input: Record<string, unknown>;
  invalidInput?: string;
  replay?: ProviderReplay;
}

/**
 * A provider block without a type of its own here: kept, shown as one line, sent back unchanged to the same
 * provider.
 */
export interface OpaqueBlock {
  type: "opaque";
  provider: string;
  raw: unknown;
}

/** A part of a message. */
export type ContentBlock = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock | OpaqueBlock;

/** Tokens of one model request, or of several added up. `inputTokens` excludes what was read from or written to a cache. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/**
 * Why a reply ended. `tool_use` without a tool call means that the provider paused and wants to be asked again with
 * the same content. A refusal is an `error` whose `rawStopReason` is `refusal`.
 */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "error" | "aborted";

/** `timestamp` of every message is milliseconds since the epoch. */
export interface UserMessage {
  role: "user";
  content: string | ContentBlock[];
  timestamp: number;
}

/** A reply of a model. */
export interface AssistantMessage {
  role: "assistant";
  content: ContentBlock[];
  /** The id of the model that wrote it. */
  model: string;
  usage: Usage;
  stopReason: StopReason;
  /** The provider's own stop reason, if it gave one. */
  rawStopReason?: string;
  timestamp: number;
}

/**
 * The outcome of a call that did not succeed. `failed`: it ran, or what it asked for cannot be done. `rejected`: it
 * was not allowed. `skipped`: it was never tried, since the reply or the run had ended. `interrupted`: it was
 * stopped while it ran.
 */
export type ToolCallOutcome = "failed" | "rejected" | "skipped" | "interrupted";

/** The result of the call `toolCallId`; `output` is what the model reads. */
export interface ToolResultMessage {
  role: "tool_result";
  toolCallId: string;
  toolName: string;
  output: string;
  images?: ImageBlock[];
  isError: boolean;
  /** Set where `isError`, but for messages of earlier versions. No provider gets it. */
  outcome?: ToolCallOutcome;
  /** The arguments that the call ran with, all of them, where the user changed those of the model. No provider gets it. */
  input?: Record<string, unknown>;
  /** The short parts of the tool's metadata, such as an exit code, for showing it later. Not sent to any provider. */
  metadata?: Record<string, string | number | boolean>;
  timestamp: number;
}

/** A message of a conversation. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** A tool as a model sees it; `inputSchema` is the JSON Schema of its arguments, an object. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/**
 * How old tool results are shortened, as it is configured and recorded. What is left out depends on the model's window.
 * Positions are counted in results, from the newest back.
 */
export interface PruningConditions {
  enabled?: boolean | undefined;
  /** Characters above which a result keeps only its head and tail. */
  softTrimChars?: number | undefined;
  /** Characters of the head. */
  softTrimHead?: number | undefined;
  /** Characters of the tail. */
  softTrimTail?: number | undefined;
  /** This many of the newest results are not cleared. */
  hardClearAfter?: number | undefined;
  /**
   * This many of the newest results are not touched; above zero, results that the model has not seen yet are not
   * touched either.
   */
  keepLast?: number | undefined;
  /** Nothing is shortened until this many tokens can be removed at once. */
  minimumTokens?: number | undefined;
  /** The newest results of together this many tokens are not touched. */
  protectTokens?: number | undefined;
  /** Nothing is shortened while a request takes less than this share of the usable window; 0 to 1. */
  startRatio?: number | undefined;
}

/**
 * How a conversation is kept within the model's window, as it is configured and recorded; counts are tokens. What is left
 * out depends on the window. Both schemas are checked against it.
 */
export interface CompactionSettings {
  /** False: nothing is shortened unless the user asks for it. */
  enabled?: boolean | undefined;
  /** Kept free for the answer and for errors of estimation: a request that would reach into it is shortened first. */
  reserveTokens?: number | undefined;
  /** The newest part that stays verbatim when the older part is summarized. */
  keepRecentTokens?: number | undefined;
  /**
   * The usable window is the smaller of this and the model's: a fuller one costs more with every request, and models
   * attend worse to what is in it.
   */
  maxContextTokens?: number | undefined;
  /** How old tool results are shortened before anything is summarised. */
  pruning?: PruningConditions | undefined;
}

/** No tokens at all. */
export const EMPTY_USAGE: Readonly<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** The tokens of both, kind by kind. */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  };
}

/** The visible text of a message: its text blocks, joined. Thinking and tool calls are not part of it. */
export function messageText(message: UserMessage | AssistantMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The text the user wrote: the first text of a message; their attachments follow it. */
export function promptText({ content }: Pick<UserMessage, "content">): string {
  if (typeof content === "string") return content;
  const first = content.find((block) => block.type === "text");
  return first?.type === "text" ? first.text : "";
}

/** The calls of a reply, in its order. */
export function toolCallsOf(message: AssistantMessage): ToolCallBlock[] {
  return message.content.filter((block) => block.type === "tool_call");
}

/** True when the provider declined to answer; see `StopReason`. */
export function isRefusal(message: AssistantMessage): boolean {
  return message.stopReason === "error" && message.rawStopReason === "refusal";
}

// The stop reasons that providers use for an ordinary end.
const ORDINARY_ENDS: ReadonlySet<string> = new Set(["end_turn", "stop_sequence", "stop", "completed"]);

/** The provider's stop reason if it is unknown and treated as an ordinary end; undefined for all others. */
export function unknownStopReason({ stopReason, rawStopReason }: AssistantMessage): string | undefined {
  const isUnknown =
    stopReason === "end_turn" && rawStopReason !== undefined && !ORDINARY_ENDS.has(rawStopReason);
  return isUnknown ? rawStopReason : undefined;
}

/** Ends an exhaustive `switch`: a new variant does not compile until it is handled. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
