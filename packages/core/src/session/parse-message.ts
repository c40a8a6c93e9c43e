import type { ContentBlock, ImageBlock, Message, StopReason, ToolCallOutcome, Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";

type JsonObject = Record<string, unknown>;

const STOP_REASONS: ReadonlySet<unknown> = new Set([
  "end_turn",
  "tool_use",
  "max_tokens",
  "error",
  "aborted",
]);

const OUTCOMES: ReadonlySet<unknown> = new Set(["failed", "rejected", "skipped", "interrupted"]);

/**
 * A message from a session file. What a newer version added is kept; a block that is not understood becomes an opaque
 * one, which is shown but never sent, so that one odd block does not cost the message. Undefined without a known role.
 */
export function readMessage(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const timestamp = typeof value.timestamp === "number" ? value.timestamp : 0;
  switch (value.role) {
    case "user": {
      const content = typeof value.content === "string" ? value.content : readBlocks(value.content);
      return { ...value, role: "user", content, timestamp };
    }
    case "assistant":
      return {
        ...value,
        role: "assistant",
        content: readBlocks(value.content),
        model: typeof value.model === "string" ? value.model : "unknown",
        usage: readUsage(value.usage),
        stopReason: isStopReason(value.stopReason) ? value.stopReason : "end_turn",
        timestamp,
      };
    case "tool_result":
      return readToolResult(value, timestamp);
    default:
      return undefined;
  }
}

function readToolResult(value: JsonObject, timestamp: number): Message | undefined {
  const { toolCallId, toolName, output, images, outcome, input, metadata, ...rest } = value;
  if (typeof toolCallId !== "string") return undefined;
  const kept = Array.isArray(images) ? readBlocks(images).filter(isImage) : [];
  return {
    ...rest,
    role: "tool_result",
    toolCallId,
    toolName: typeof toolName === "string" ? toolName : "unknown",
    output: typeof output === "string" ? output : "",
    ...(kept.length > 0 && { images: kept }),
    isError: value.isError === true,
    ...(isOutcome(outcome) && { outcome }),
    ...(isObject(input) && { input }),
    ...(isObject(metadata) && { metadata: readFacts(metadata) }),
    timestamp,
  };
}

function readFacts(metadata: JsonObject): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]) => {
      const isFact = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isFact ? [[name, value]] : [];
    }),
  );
}

function readUsage(value: unknown): Usage {
  const usage = isObject(value) ? value : {};
  const count = (key: keyof Usage) => (typeof usage[key] === "number" ? usage[key] : EMPTY_USAGE[key]);
  return {
    ...usage,
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cacheReadTokens: count("cacheReadTokens"),
    cacheWriteTokens: count("cacheWriteTokens"),
  };
}

function readBlocks(value: unknown): ContentBlock[] {
  if (!Array.isArray(value)) return [];
  return value.map((block: unknown) =>
    isBlock(block) ? block : { type: "opaque", provider: "unknown", raw: block },
  );
}

function isBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "thinking":
      return typeof value.thinking === "string";
    case "tool_call":
      return typeof value.id === "string" && typeof value.name === "string" && isObject(value.input);
    case "image":
      return isObject(value.source) && isString(value.source.data) && isString(value.source.mediaType);
    case "opaque":
      return typeof value.provider === "string";
    default:
      return false;
  }
}

function isImage(block: ContentBlock): block is ImageBlock {
  return block.type === "image";
}

function isStopReason(value: unknown): value is StopReason {
  return STOP_REASONS.has(value);
}

function isOutcome(value: unknown): value is ToolCallOutcome {
  return OUTCOMES.has(value);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
