import { asRecord, isRecord } from "../../src/provider/wire-format.ts";
import { checkBlocks, isServerBlock, type WireBlock, type WireMessage } from "./anthropic-wire-blocks.ts";
import { checkToolPairs } from "./anthropic-wire-tools.ts";
import { findLoneSurrogates } from "./wire-values.ts";

const FIELDS = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "stream",
  "thinking",
  "output_config",
]);
const MAX_CACHE_MARKERS = 4;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * Everything in a request that the real Messages API refuses, as far as its documentation and its error messages tell:
 * empty means accepted. Written apart from the code it checks.
 */
export function checkAnthropicRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["body: not an object"];
  const messages = readMessages(body.messages);
  return [
    ...checkFields(body),
    ...checkTools(body.tools),
    ...checkRoles(messages),
    ...messages.flatMap(checkBlocks),
    ...checkBlocks({ path: "system", role: "system", blocks: readBlocks(body.system) }),
    ...checkToolPairs(messages, Array.isArray(body.tools) ? body.tools.length : 0),
    ...checkThinking(body, messages),
    ...checkImageCount(messages),
    ...checkCacheMarkers(body),
    ...findLoneSurrogates(body, "body"),
  ];
}

function readMessages(messages: unknown): WireMessage[] {
  if (!Array.isArray(messages)) return [];
  return messages.map((message, index) => ({
    path: `messages.${index}`,
    role: String(asRecord(message).role),
    blocks: readBlocks(asRecord(message).content),
  }));
}

function readBlocks(content: unknown): WireBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.map((block) => ({ ...asRecord(block), type: String(asRecord(block).type) }))
    : [];
}

function checkFields(body: Record<string, unknown>): string[] {
  const { max_tokens: maxTokens, model } = body;
  return [
    ...Object.keys(body).flatMap((key) =>
      FIELDS.has(key) ? [] : [`${key}: extra inputs are not permitted`],
    ),
    ...(typeof model === "string" && model !== "" ? [] : ["model: field required"]),
    ...(Number.isInteger(maxTokens) && Number(maxTokens) >= 1 ? [] : ["max_tokens: must be at least 1"]),
  ];
}

function checkTools(tools: unknown): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) return ["tools: not a list"];
  const names = tools.map((tool) => String(asRecord(tool).name));
  return [
    ...names.flatMap((name) =>
      TOOL_NAME.test(name) ? [] : [`tools: name ${name} does not match the pattern`],
    ),
    ...(new Set(names).size === names.length ? [] : ["tools: names must be unique"]),
    ...tools.flatMap((tool) =>
      asRecord(asRecord(tool).input_schema).type === "object" || asRecord(tool).type === "web_search_20250305"
        ? []
        : ["tools: input_schema.type must be object"],
    ),
  ];
}

function checkRoles(messages: readonly WireMessage[]): string[] {
  const [first] = messages;
  const last = messages.at(-1);
  if (!first || !last) return ["messages: at least one message is required"];
  return [
    ...(first.role === "user" ? [] : ["messages: first message must use the user role"]),
    ...messages.flatMap(({ role, path }) =>
      role === "user" || role === "assistant" ? [] : [`${path}: unexpected role ${role}`],
    ),
    ...(last.role === "assistant" && !last.blocks.some(isServerBlock)
      ? ["messages: this model does not support prefill, the conversation must end with a user message"]
      : []),
    ...(last.role === "assistant" && endsInWhiteSpace(last)
      ? ["messages: final assistant content cannot end with trailing whitespace"]
      : []),
  ];
}

function endsInWhiteSpace({ blocks }: WireMessage): boolean {
  const last = blocks.at(-1);
  return last?.type === "text" && /\s$/.test(String(last.text));
}

function checkThinking(body: Record<string, unknown>, messages: readonly WireMessage[]): string[] {
  const { type, budget_tokens: budget } = asRecord(body.thinking);
  if (type === undefined) return [];
  if (!["adaptive", "disabled", "between_tools", "enabled"].includes(String(type)))
    return ["thinking: unknown type"];
  if (type !== "enabled") return [];
  const turn = messages.findLast(({ role }) => role === "assistant");
  const isMidTurn = messages.at(-1)?.blocks[0]?.type === "tool_result";
  return [
    ...(Number(budget) >= 1024 ? [] : ["thinking.budget_tokens: must be at least 1024"]),
    ...(Number(budget) < Number(body.max_tokens)
      ? []
      : ["max_tokens: must be greater than thinking.budget_tokens"]),
    ...(isMidTurn && turn && !/thinking$/.test(turn.blocks[0]?.type ?? "")
      ? [`${turn.path}: expected thinking, a final assistant message must start with it`]
      : []),
  ];
}

function checkImageCount(messages: readonly WireMessage[]): string[] {
  const count = JSON.stringify(messages).split('"type":"image"').length - 1;
  return count > 20 ? [`images: ${count}, which lowers the limit to 2000 pixels a side`] : [];
}

function checkCacheMarkers(body: unknown): string[] {
  const count = JSON.stringify(body).split('"cache_control":').length - 1;
  return count > MAX_CACHE_MARKERS
    ? [`cache_control: ${count} blocks, at most ${MAX_CACHE_MARKERS} are allowed`]
    : [];
}
