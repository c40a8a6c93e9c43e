import type { ContentBlock, Message, ToolCallBlock, ToolResultMessage, UserMessage } from "../types.ts";

/**
 * The arguments of a tool call from their JSON. What is no object, or was cut off before it began, is kept word for
 * word as `invalidInput`.
 *
 * @param startInput the arguments where the call began with them, as some servers send it.
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
  // No arguments at all are an empty object, unless the end came before they did.
  return isCut && Object.keys(input).length === 0 ? { input, invalidInput: "" } : { input };
}

/** Names and ids of tool calls as APIs take them: letters, digits, `_` and `-`. */
const OUT_OF_PATTERN = /[^a-zA-Z0-9_-]/g;

/**
 * Makes ids that a provider accepts from those of any other. What is changed stays unique, and the same id
 * always becomes the same one.
 *
 * @param own ids that came from the provider itself, which takes them as they are.
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

/** A model can call a tool that does not exist by a name that no tool may have. */
export function toWireName(name: string, maxChars: number): string {
  return name.replace(OUT_OF_PATTERN, "_").slice(0, maxChars) || "unknown";
}

/**
 * The messages with tool calls and results as text, for a request that offers no tools: providers refuse the blocks
 * then, yet what was done has to stay readable.
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

/** Reading JSON that somebody else wrote, without trusting its shape. */
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

/** A count as a whole number from zero on, rounded down; zero for what is missing, negative or no number. */
export function countOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return 0;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(value)));
}

// Deeper values overflow the stack of whoever walks them, JSON.stringify included; nothing real comes near.
const MAX_DEPTH = 1_000;

/** The parsed text, or undefined when it is no JSON or nests deeper than a thousand levels. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asks decides what text that is no JSON means.
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

/** The value with every lone surrogate in its strings and keys replaced: providers refuse text that is no Unicode. */
export function toWellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormedJson) ? value : value.map(toWellFormedJson);
  return isRecord(value) ? toWellFormedRecord(value) : value;
}

/** The same for an object; itself where there is nothing to replace, as nearly always. */
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
