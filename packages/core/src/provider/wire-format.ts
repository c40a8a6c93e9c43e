import type {
  AssistantMessage,
  ContentBlock,
  Message,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "../types.ts";

/**
 * Parses the arguments of a tool call from their JSON. Text that is not an object, or that ended before it began, is
 * kept verbatim as `invalidInput`.
 *
 * @param startInput the arguments that some servers send with the start of the call.
 */
export function toCallInput(
  json: string,
  isCut: boolean,
  startInput?: unknown,
): Pick<ToolCallBlock, "input" | "invalidInput"> {
  if (json.trim() !== "") {
    const input = parseJson(json);
    return isRecord(input) ? { input } : { input: {}, invalidInput: json };
  }
  const input = asRecord(startInput);
  // Missing arguments mean an empty object, unless the answer was cut before they arrived.
  return isCut && Object.keys(input).length === 0 ? { input, invalidInput: "" } : { input };
}

/** Names and ids of tool calls as APIs accept them: letters, digits, `_` and `-`. */
const OUT_OF_PATTERN = /[^a-zA-Z0-9_-]/g;

/**
 * Converts the ids of any provider to ids that this provider accepts. Converted ids are unique, and the same id is
 * always converted to the same result.
 *
 * @param own ids that came from the provider itself; they are not converted.
 */
export function createWireIds(
  maxChars = Number.POSITIVE_INFINITY,
  own: ReadonlySet<string> = new Set(),
): (toolCallId: string) => string {
  const wireIds = new Map<string, string>();
  const used = new Set<string>();
  return (toolCallId) => {
    const known = wireIds.get(toolCallId);
    if (known !== undefined) return known;
    const isOwn = own.has(toolCallId);
    const base = isOwn ? toolCallId.toWellFormed() : toolCallId.replace(OUT_OF_PATTERN, "_");
    let wireId = isOwn ? base : base.slice(0, maxChars);
    for (let count = 2; used.has(wireId); count++) {
      const suffix = `_${count}`;
      wireId = base.slice(0, maxChars - suffix.length) + suffix;
    }
    used.add(wireId);
    wireIds.set(toolCallId, wireId);
    return wireId;
  };
}

/** A model can call a tool that does not exist by a name that APIs reject. */
export function toWireName(name: string, maxChars: number): string {
  return name.replace(OUT_OF_PATTERN, "_").slice(0, maxChars) || "unknown";
}

/**
 * Writes tool calls and results as text, for a request that offers no tools: providers reject the blocks in that
 * case, but the model must still be able to read what was done.
 */
export function withToolsAsText(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role === "assistant") return { ...message, content: message.content.map(toTextBlock) };
    return message.role === "tool_result" ? toUserMessage(message) : message;
  });
}

function toUserMessage({
  toolName,
  output,
  images = [],
  isError,
  timestamp,
}: ToolResultMessage): UserMessage {
  const text = `[${isError ? "Error from" : "Result of"} ${toolName}]\n${output}`;
  return { role: "user", content: [{ type: "text", text }, ...images], timestamp };
}

function toTextBlock(block: ContentBlock): ContentBlock {
  if (block.type !== "tool_call") return block;
  const input = block.invalidInput ?? JSON.stringify(block.input);
  return { type: "text", text: `[Called ${block.name} with ${input}]` };
}

/** Readers of untrusted JSON, whose shape is not known. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The value as a string, or an empty one. */
export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A count as a whole number of at least zero, rounded down; zero if it is missing, negative or not a number. */
export function countOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return 0;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(value)));
}

// Deeper values overflow the stack of every function that walks them, JSON.stringify included. Real data is never
// this deep.
const MAX_DEPTH = 1_000;

/** The parsed text, or undefined if it is not JSON or is nested more than a thousand levels deep. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The caller decides what invalid JSON means.
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (isInString) {
      if (char === "\\") index += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "[" || char === "{") depth += 1;
    else if (char === "]" || char === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * The value with every lone surrogate in its strings and keys replaced: providers reject text that is not valid
 * Unicode.
 */
export function toWellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormedJson) ? value : value.map(toWellFormedJson);
  return isRecord(value) ? toWellFormedRecord(value) : value;
}

/** The same for an object. Returns the object itself if nothing has to be replaced, which is nearly always the case. */
export function toWellFormedRecord(record: Record<string, unknown>): Record<string, unknown> {
  if (isWellFormedJson(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key.toWellFormed(), toWellFormedJson(value)]),
  );
}

function isWellFormedJson(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormedJson);
  return (
    !isRecord(value) || Object.keys(value).every((key) => key.isWellFormed() && isWellFormedJson(value[key]))
  );
}

/** Message metadata that an API does not provide. */
export interface MessageFrame {
  /** The id of the requested model, as the caller gave it. */
  model: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/** Assembles the message of a converted answer. */
export function toAssistantMessage(
  {
    content,
    usage,
    stopReason,
    rawStopReason,
  }: Pick<AssistantMessage, "content" | "usage" | "stopReason"> & { rawStopReason: string | undefined },
  { model, timestamp }: MessageFrame,
): AssistantMessage {
  const reason = rawStopReason === undefined ? {} : { rawStopReason };
  return { role: "assistant", content, model, usage, stopReason, ...reason, timestamp };
}
