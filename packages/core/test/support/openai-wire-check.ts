import { asRecord, asString, isRecord } from "../../src/provider/wire-format.ts";
import { checkItem, type WireItem } from "./openai-wire-items.ts";
import { checkReasoning } from "./openai-wire-reasoning.ts";
import { findLoneSurrogates } from "./wire-values.ts";

const FIELDS = new Set([
  "model",
  "stream",
  "store",
  "instructions",
  "input",
  "tools",
  "max_output_tokens",
  "prompt_cache_key",
  "reasoning",
  "include",
]);
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * Everything in a stateless request that the real Responses API refuses, as far as its types and its error messages tell:
 * empty means accepted. Written apart from the code it checks.
 */
export function checkOpenAIRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["body: not an object"];
  const items = readItems(body.input);
  return [
    ...checkFields(body),
    ...checkTools(body.tools),
    ...(items.length > 0 ? [] : ["input: at least one item is required"]),
    ...items.flatMap(checkItem),
    ...checkIds(items),
    ...checkCalls(items, Array.isArray(body.tools) ? body.tools.length : 0),
    ...checkReasoning(items),
    ...(body.reasoning === undefined && items.some(({ type }) => type === "reasoning")
      ? ["Reasoning input items can only be provided to a reasoning or computer use model."]
      : []),
    ...findLoneSurrogates(body, "body"),
  ];
}

function readItems(input: unknown): WireItem[] {
  if (!Array.isArray(input)) return [];
  return input.map((item, index) => {
    const fields = asRecord(item);
    return { ...fields, type: asString(fields.type) || "message", path: `input[${index}]` };
  });
}

function checkFields(body: Record<string, unknown>): string[] {
  const { model, stream, store, max_output_tokens: maxTokens, prompt_cache_key: cacheKey, include } = body;
  const reasoning = asRecord(body.reasoning);
  const rules: Array<[boolean, string]> = [
    [typeof model === "string" && model !== "", "model: required"],
    [stream === true && store === false, "stream and store: not a stateless stream"],
    [Number.isInteger(maxTokens) && Number(maxTokens) >= 16, "max_output_tokens: below the minimum of 16"],
    [cacheKey === undefined || asString(cacheKey).length <= 64, "prompt_cache_key: longer than 64"],
    [body.instructions === undefined || asString(body.instructions).trim() !== "", "instructions: empty"],
    [include === undefined || Bun.deepEquals(include, ["reasoning.encrypted_content"]), "include: unknown"],
    [
      reasoning.effort === undefined || EFFORTS.includes(String(reasoning.effort)),
      "reasoning.effort: unknown",
    ],
    [reasoning.summary === undefined || reasoning.summary === "auto", "reasoning.summary: unknown"],
  ];
  return [
    ...Object.keys(body).flatMap((key) => (FIELDS.has(key) ? [] : [`Unknown parameter: '${key}'`])),
    ...rules.flatMap(([holds, problem]) => (holds ? [] : [problem])),
  ];
}

function checkTools(tools: unknown): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: not a list of tools"];
  const names = tools.map((tool) => asString(asRecord(tool).name));
  return [
    ...(new Set(names).size === names.length ? [] : ["tools: names must be unique"]),
    ...tools.flatMap((tool) => checkTool(asRecord(tool))),
  ];
}

function checkTool({ type, name, parameters, strict }: Record<string, unknown>): string[] {
  if (type === "web_search") return [];
  const schema = asRecord(parameters);
  const keys = Object.keys(asRecord(schema.properties));
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fitsStrict = schema.additionalProperties === false && keys.every((key) => required.includes(key));
  const rules: Array<[boolean, string]> = [
    [type === "function", "tools: only functions are offered"],
    [/^[a-zA-Z0-9_-]{1,64}$/.test(asString(name)), `tools: name ${name} does not match the pattern`],
    [schema.type === "object", "tools: parameters must be an object"],
    [typeof strict === "boolean" || strict === null, "tools: missing required parameter strict"],
    [strict !== true || fitsStrict, "tools: invalid schema for strict mode"],
  ];
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]));
}

function checkIds(items: readonly WireItem[]): string[] {
  const ids = items.map(({ id }) => asString(id)).filter((id) => id !== "");
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  return twice.map((id) => `Duplicate item found with id ${id}`);
}

/** Each call has exactly one output, after it, whatever kind of call it is. */
function checkCalls(items: readonly WireItem[], toolCount: number): string[] {
  const isCall = ({ type, call_id }: WireItem) => type.endsWith("_call") && asString(call_id) !== "";
  const isOutput = ({ type }: WireItem) => type.endsWith("_output");
  const usesFunctions = items.some(({ type }) => type.startsWith("function_call"));
  const callIds = items.filter(isCall).map(({ call_id }) => asString(call_id));
  return [
    ...(usesFunctions && toolCount === 0 ? ["tools: required when the input holds calls"] : []),
    ...(new Set(callIds).size === callIds.length ? [] : ["input: a call_id comes twice"]),
    ...items.flatMap((item, index) => {
      const isSame = ({ call_id }: WireItem) => call_id === item.call_id;
      if (isCall(item)) {
        const count = items.slice(index).filter((other) => isOutput(other) && isSame(other)).length;
        return count === 1 ? [] : [`${item.path}: ${count} tool outputs found for call ${item.call_id}`];
      }
      const hasCall = items.slice(0, index).some((other) => isCall(other) && isSame(other));
      return !isOutput(item) || hasCall ? [] : [`${item.path}: no tool call found for ${item.call_id}`];
    }),
  ];
}
