import { asRecord, asString, isRecord } from "../../src/provider/wire-format.ts";
import { checkMessage } from "./compatible-wire-messages.ts";
import { checkOrder } from "./compatible-wire-order.ts";
import { findLoneSurrogates } from "./wire-values.ts";

const FIELDS = new Set([
  "model",
  "messages",
  "tools",
  "stream",
  "stream_options",
  "max_tokens",
  "reasoning_effort",
]);
const EFFORTS = ["none", "low", "medium", "high"];

/**
 * Everything in a Chat Completions request that some server refuses: OpenAI's own rules, and those of the chat templates
 * that local servers apply, which want user and assistant to take turns. Empty means accepted by all. Written apart from
 * the code it checks.
 */
export function checkCompatibleRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["body: not an object"];
  const messages = Array.isArray(body.messages) ? body.messages.map(asRecord) : [];
  const usesTools = messages.some(({ role, tool_calls }) => role === "tool" || tool_calls !== undefined);
  return [
    ...checkFields(body),
    ...checkTools(body.tools),
    ...(usesTools && body.tools === undefined ? ["tools: required when the messages hold calls"] : []),
    ...messages.flatMap((message, index) => checkMessage(message, `messages[${index}]`)),
    ...checkOrder(messages),
    ...findLoneSurrogates(body, "body"),
  ];
}

function checkFields(body: Record<string, unknown>): string[] {
  const { model, stream, stream_options: options, max_tokens: maxTokens, reasoning_effort: effort } = body;
  const rules: Array<[boolean, string]> = [
    [asString(model).trim() !== "", "model: required"],
    [stream === true, "stream: not a stream"],
    [options === undefined || Bun.deepEquals(options, { include_usage: true }), "stream_options: unknown"],
    [
      maxTokens === undefined || (Number.isInteger(maxTokens) && Number(maxTokens) > 0),
      "max_tokens: invalid",
    ],
    [effort === undefined || EFFORTS.includes(asString(effort)), "reasoning_effort: unknown"],
  ];
  return [
    ...Object.keys(body).flatMap((key) => (FIELDS.has(key) ? [] : [`Unknown parameter: '${key}'`])),
    ...rules.flatMap(([holds, problem]) => (holds ? [] : [problem])),
  ];
}

function checkTools(tools: unknown): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: not a list of tools"];
  const names = tools.map((tool) => asString(asRecord(asRecord(tool).function).name));
  return [
    ...(new Set(names).size === names.length ? [] : ["tools: names must be unique"]),
    ...tools.flatMap((tool) => checkTool(asRecord(tool))),
  ];
}

function checkTool(tool: Record<string, unknown>): string[] {
  const offered = asRecord(tool.function);
  const rules: Array<[boolean, string]> = [
    [tool.type === "function" && Object.keys(tool).length === 2, "tools: only functions are offered"],
    [/^[a-zA-Z0-9_-]{1,64}$/.test(asString(offered.name)), `tools: name ${offered.name} is invalid`],
    [typeof offered.description === "string", "tools: description is missing"],
    [asRecord(offered.parameters).type === "object", "tools: parameters must be an object"],
    [Object.keys(offered).length === 3, "tools: unknown field of a function"],
  ];
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]));
}
