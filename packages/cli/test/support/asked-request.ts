import { asRecord, asString, isRecord } from "../../../core/src/provider/wire-format.ts";

type Fields = Record<string, unknown>;

/** A request as a model sees it, whatever the wire format. */
export interface AskedRequest {
  system: string;
  /** The text of each message, calls and results included, without its role. */
  messages: string[];
  /** The names of the tools. */
  tools: string[];
  model: string;
  maxTokens: number;
  /** At four characters each. */
  tokens: number;
  /** It has no tools, which is only true for a request for a summary. */
  isSummary: boolean;
}

/** Parses a request of the Messages, the Responses or the Chat Completions API. */
export function readAskedRequest(body: Fields): AskedRequest {
  const { system, instructions, messages, input, tools, model } = body;
  const items = asArray(messages ?? input).map(asRecord);
  const isSystem = ({ role }: Fields) => role === "system";
  const names = asArray(tools)
    .map(asRecord)
    .map(({ name, function: named }) => asString(name ?? asRecord(named).name));
  return {
    system: textOf(system ?? instructions ?? items.find(isSystem)?.content),
    messages: items.filter((item) => !isSystem(item)).map(textOf),
    tools: names,
    model: asString(model),
    maxTokens: Number(body.max_tokens ?? body.max_output_tokens ?? 0),
    tokens: Math.ceil(JSON.stringify(body).length / 4),
    isSummary: names.length === 0,
  };
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("");
  if (!isRecord(value)) return "";
  const { text, content, output, input, arguments: json, tool_calls: calls } = value;
  if (typeof text === "string") return text;
  const call = input === undefined ? asString(json) : JSON.stringify(input);
  return [textOf(content), textOf(output), call, asArray(calls).map(callOf).join("")].join("");
}

function callOf(entry: unknown): string {
  return asString(asRecord(asRecord(entry).function).arguments);
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** True for the request that lets the model record knowledge. */
export function isFlush({ messages }: AskedRequest): boolean {
  return messages.at(-1)?.includes("is about to be replaced by a summary") ?? false;
}
