import { asRecord, asString } from "../../src/provider/wire-format.ts";
import { checkImageData } from "./wire-values.ts";

export type WireBlock = Record<string, unknown> & { type: string };

export interface WireMessage {
  /** Where it stands, as the API's errors name it. */
  path: string;
  role: string;
  blocks: WireBlock[];
}

const FIELDS_OF_BLOCK: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "cache_control", "citations"],
  image: ["source", "cache_control"],
  tool_use: ["id", "name", "input", "cache_control", "caller", "toolset_name"],
  tool_result: ["tool_use_id", "content", "is_error", "cache_control", "toolset_name"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
};

/** A block of a tool that the provider runs itself. */
export function isServerBlock({ type }: WireBlock): boolean {
  return type !== "tool_use" && type !== "tool_result" && /_tool_(use|result)$/.test(type);
}

/** What the API refuses about the blocks of one message, each for itself. */
export function checkBlocks({ path, role, blocks }: WireMessage): string[] {
  const isEmpty = blocks.length === 0 && role !== "system";
  const last = blocks.at(-1);
  return [
    ...(isEmpty ? [`${path}: content must not be empty`] : []),
    ...(role === "assistant" && /thinking$/.test(last?.type ?? "")
      ? [`${path}: the final block in an assistant message cannot be thinking`]
      : []),
    ...blocks.flatMap((block, index) => checkBlock(block, role, `${path}.content.${index}`)),
  ];
}

function checkBlock(block: WireBlock, role: string, path: string): string[] {
  const fields = FIELDS_OF_BLOCK[block.type];
  const extra = Object.keys(block).filter((key) => key !== "type" && fields && !fields.includes(key));
  return [
    ...extra.map((key) => `${path}.${key}: extra inputs are not permitted`),
    ...(fields || isServerBlock(block) ? [] : [`${path}: unknown type ${block.type}`]),
    ...checkPlace(block, role, path),
    ...checkContent(block, path),
  ];
}

function checkPlace({ type }: WireBlock, role: string, path: string): string[] {
  const places: Readonly<Record<string, string>> = {
    image: "user",
    tool_result: "user",
    tool_use: "assistant",
    thinking: "assistant",
    redacted_thinking: "assistant",
  };
  const place = places[type];
  return place === undefined || place === role
    ? []
    : [`${path}: ${type} is not allowed in a ${role} message`];
}

function checkContent(block: WireBlock, path: string): string[] {
  switch (block.type) {
    case "text":
      return asString(block.text).trim() === "" ? [`${path}: text content blocks must be non-empty`] : [];
    case "thinking":
      return asString(block.signature) === "" || typeof block.thinking !== "string"
        ? [`${path}: thinking needs its signature`]
        : [];
    case "redacted_thinking":
      return asString(block.data) === "" ? [`${path}: data is required`] : [];
    case "image":
      return checkImage(asRecord(block.source), path);
    case "tool_result":
      return checkResultContent(block.content, path);
    default:
      return [];
  }
}

function checkResultContent(content: unknown, path: string): string[] {
  if (typeof content === "string") return content.trim() === "" ? [`${path}: content is empty`] : [];
  if (!Array.isArray(content)) return [`${path}: content is neither text nor a list`];
  if (content.length === 0) return [`${path}: content is empty`];
  return content.flatMap((part, index) => {
    const block = { ...asRecord(part), type: asString(asRecord(part).type) };
    const isAllowed = block.type === "text" || block.type === "image";
    return [
      ...(isAllowed ? [] : [`${path}.content.${index}: ${block.type} is not allowed in a result`]),
      ...checkBlock(block, "user", `${path}.content.${index}`),
    ];
  });
}

function checkImage(source: Record<string, unknown>, path: string): string[] {
  if (source.type !== "base64") return [`${path}: unsupported image source`];
  return checkImageData(asString(source.media_type), asString(source.data), path);
}
