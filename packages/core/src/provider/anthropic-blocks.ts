import type {
  Base64ImageSource,
  ContentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages";
import { isBlank } from "../result-texts.ts";
import type { ContentBlock, ImageBlock, ThinkingBlock, ToolCallBlock, ToolResultMessage } from "../types.ts";
import { assertNever } from "../types.ts";
import { toWireName } from "./call-names.ts";
import { asRecord, isRecord, toWellFormedJson, toWellFormedRecord } from "./json-value.ts";

/** The `provider` of replay data and opaque blocks that came from here and go back here. */
export const ANTHROPIC = "anthropic";

const MAX_NAME_CHARS = 128;

/** What the blocks of one request have in common. */
export interface BlockContext {
  /** An id as the API takes it: letters, digits, `_` and `-`, and no two alike. */
  toWireId(toolCallId: string): string;
  /** Signatures and redacted data that the API has refused. */
  rejectedThinking: ReadonlySet<string>;
}

/** Lone surrogates are replaced: see `toWellFormedJson`. */
export function toTextParam(text: string): TextBlockParam {
  return { type: "text", text: text.toWellFormed() };
}

/** One block of a user or assistant message; undefined for what only another provider understands. */
export function toBlockParam(block: ContentBlock, context: BlockContext): ContentBlockParam | undefined {
  switch (block.type) {
    case "text":
      return { ...replayFields(block), ...toTextParam(block.text) };
    case "image":
      return toImageParam(block);
    case "thinking":
      return toThinkingParam(block, context.rejectedThinking);
    case "tool_call":
      return toToolUseParam(block, context);
    case "opaque":
      return block.provider === ANTHROPIC ? toOpaqueParam(block.raw) : undefined;
    default:
      return assertNever(block);
  }
}

/** The text before the images, and left out beside them when it is blank: providers refuse that. */
export function toToolResultParam(message: ToolResultMessage, context: BlockContext): ToolResultBlockParam {
  const images = (message.images ?? []).map(toImageParam);
  const text = isBlank(message.output) ? [] : [toTextParam(message.output)];
  return {
    type: "tool_result",
    tool_use_id: context.toWireId(message.toolCallId),
    content: images.length > 0 ? [...text, ...images] : message.output.toWellFormed(),
    ...(message.isError && { is_error: true }),
  };
}

/** Fields of the original block beyond those we model, such as citations or who called a tool. */
function replayFields(block: { replay?: { provider: string; data: unknown } }): Record<string, unknown> {
  return block.replay?.provider === ANTHROPIC ? toWellFormedRecord(asRecord(block.replay.data)) : {};
}

function toImageParam({ source }: ImageBlock): ImageBlockParam | TextBlockParam {
  const { mediaType, data } = source;
  if (!isImageMediaType(mediaType)) return toTextParam(`[An image of type ${mediaType} cannot be sent.]`);
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

function isImageMediaType(mediaType: string): mediaType is Base64ImageSource["media_type"] {
  return ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(mediaType);
}

/** Thinking goes back exactly as it came or not at all: the signature covers every character. */
function toThinkingParam(block: ThinkingBlock, rejected: ReadonlySet<string>): ContentBlockParam | undefined {
  const { thinking, signature, replay } = block;
  if (replay) {
    if (replay.provider !== ANTHROPIC || typeof replay.data !== "string") return undefined;
    return rejected.has(replay.data) ? undefined : { type: "redacted_thinking", data: replay.data };
  }
  if (!signature || rejected.has(signature) || !thinking.isWellFormed()) return undefined;
  return { type: "thinking", thinking, signature };
}

function toToolUseParam(block: ToolCallBlock, context: BlockContext): ContentBlockParam {
  return {
    ...replayFields(block),
    type: "tool_use",
    id: context.toWireId(block.id),
    name: toWireName(block.name, MAX_NAME_CHARS),
    input: toWellFormedRecord(block.input),
  };
}

function toOpaqueParam(raw: unknown): ContentBlockParam | undefined {
  const block = toWellFormedJson(raw);
  return isOpaqueBlockParam(block) ? block : undefined;
}

/** The API wrote the block itself, so having a type is all that is asked of it. */
function isOpaqueBlockParam(value: unknown): value is ContentBlockParam {
  return isRecord(value) && typeof value.type === "string";
}
