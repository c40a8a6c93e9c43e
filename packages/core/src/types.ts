/** The data types that all parts of diligent share. All of them survive a JSON roundtrip. */

/**
 * Data that only one provider understands (a reasoning item, a message `phase`), stored on its block. It is sent back
 * to that provider unchanged, and to no other one.
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

/** `data` is base64 without a `data:` prefix; `mediaType` is the actual type of the bytes, such as `image/png`. */
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
 * A provider's block of an unknown type: it is stored, shown as one line, and sent back unchanged to the same provider.
 */
export interface OpaqueBlock {
  type: "opaque";
  provider: string;
  raw: unknown;
}

/** A part of a message. */
export type ContentBlock = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock | OpaqueBlock;

/**
 * Tokens of one model request, or of several added up. `inputTokens` excludes tokens read from or written to a cache.
 */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Searches of the web by the provider's own tool, which cost extra. Left out if there were none. */
  webSearches?: number | undefined;
}

/**
 * Why a reply ended. `tool_use` without a tool call means that the provider paused and must be asked again with the
 * same content. A refusal is an `error` whose `rawStopReason` is `refusal`.
 */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "error" | "aborted";

/** `timestamp` is milliseconds since the epoch, as in all messages. */
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
 * The outcome of an unsuccessful call. `failed`: it ran, or could not do what was requested. `rejected`: it was not
 * allowed. `skipped`: it was not started, because the reply or the run had ended. `interrupted`: it was stopped while
 * it ran.
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
  /** Set if `isError` is true, except in messages of earlier versions. Not sent to any provider. */
  outcome?: ToolCallOutcome;
  /** All arguments that the call ran with, if the user changed the model's. Not sent to any provider. */
  input?: Record<string, unknown>;
  /**
   * The short parts of the tool's metadata, such as an exit code, for displaying it later. Not sent to any provider.
   */
  metadata?: Record<string, string | number | boolean>;
  /** The deferred tools that a search has found: a provider that defers tools shows the model their definitions. */
  foundTools?: string[];
  timestamp: number;
}

/** A message of a conversation. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** A tool as a model sees it; `inputSchema` is the JSON Schema of its arguments, an object. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /**
   * The model learns of it only once a result names it in `foundTools`. Left out of requests to providers that cannot
   * defer tools.
   */
  isDeferred?: true;
}

/**
 * How old tool results are shortened, as configured and recorded. Defaults depend on the model's window. Positions
 * count results, from the newest back.
 */
export interface PruningConditions {
  enabled?: boolean | undefined;
  /** Characters above which a result keeps only its head and tail. */
  softTrimChars?: number | undefined;
  /** Characters of the head. */
  softTrimHead?: number | undefined;
  /** Characters of the tail. */
  softTrimTail?: number | undefined;
  /** This many of the newest results are not replaced by a placeholder. */
  hardClearAfter?: number | undefined;
  /**
   * This many of the newest results are never shortened; above zero, neither are results that the model has not seen
   * yet.
   */
  keepLast?: number | undefined;
  /** Nothing is shortened until this many tokens can be removed at once. */
  minimumTokens?: number | undefined;
  /** The newest results are not shortened, up to this number of tokens in total. */
  protectTokens?: number | undefined;
  /** Nothing is shortened while a request takes less than this share of the usable window; 0 to 1. */
  startRatio?: number | undefined;
}

/**
 * How a conversation is kept within the model's window, as configured and recorded; counts are tokens. Defaults depend
 * on the window. Both schemas are checked against this type.
 */
export interface CompactionSettings {
  /** False: nothing is shortened unless the user asks for it. */
  enabled?: boolean | undefined;
  /** Kept free for the answer and for estimation errors: a request that would use it is shortened first. */
  reserveTokens?: number | undefined;
  /** The newest part that is kept verbatim when the older part is summarized. */
  keepRecentTokens?: number | undefined;
  /**
   * The usable window is the smaller of this and the model's: a full context costs more with every request, and models
   * attend to it less reliably.
   */
  maxContextTokens?: number | undefined;
  /** How old tool results are shortened before anything is summarized. */
  pruning?: PruningConditions | undefined;
}

/** Zero tokens. */
export const EMPTY_USAGE: Readonly<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Adds the tokens of each kind. */
export function addUsage(left: Usage, right: Usage): Usage {
  const webSearches = (left.webSearches ?? 0) + (right.webSearches ?? 0);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    ...(webSearches > 0 && { webSearches }),
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

/** The states of an item of a checklist. */
export const TODO_STATUSES = ["pending", "in_progress", "completed"] as const;

/** An item of the model's checklist. */
export interface TodoItem {
  content: string;
  status: (typeof TODO_STATUSES)[number];
  /** The item while it is in progress, such as `Running the tests`. */
  activeForm?: string | undefined;
}

const TODO_MARKS = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const;

/** The checklist, an item on each line. */
export function formatTodos(todos: readonly TodoItem[]): string {
  return todos.map(({ content, status }) => `${TODO_MARKS[status]} ${content}`).join("\n");
}

/** A question to the user, with options to choose from. */
export interface UserQuestion {
  question: string;
  /** A word or two that name its subject. */
  header?: string | undefined;
  options: { label: string; description?: string | undefined }[];
  /** Several options may be chosen. */
  multiSelect?: boolean | undefined;
}
