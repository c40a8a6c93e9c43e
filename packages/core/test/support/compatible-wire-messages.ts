import { asRecord, asString, isRecord, parseJson } from "../../src/provider/wire-format.ts";
import { checkImageData } from "./wire-values.ts";

type WireMessage = Record<string, unknown>;

/** Thinking is taken back by the servers that gave it, in turns that go on after tool results. */
const THINKING = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];
const FIELDS_OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  system: ["content"],
  user: ["content"],
  assistant: ["content", "tool_calls", ...THINKING],
  tool: ["content", "tool_call_id"],
};

/** What a server refuses about one message, by itself. */
export function checkMessage(message: WireMessage, path: string): string[] {
  const role = asString(message.role);
  const fields = FIELDS_OF_ROLE[role];
  if (!fields) return [`${path}.role: unknown role '${role}'`];
  const extra = Object.keys(message).filter((key) => key !== "role" && !fields.includes(key));
  return [
    ...extra.map((key) => `Unknown parameter: '${path}.${key}'`),
    ...(role === "assistant" ? checkAssistant(message, path) : checkContent(message, path)),
  ];
}

function checkContent({ role, content }: WireMessage, path: string): string[] {
  if (role !== "user" || typeof content === "string") return checkText(content, `${path}.content`);
  if (!Array.isArray(content) || content.length === 0) return [`${path}.content: empty`];
  return content.flatMap((part, index) => checkPart(asRecord(part), `${path}.content[${index}]`));
}

function checkText(text: unknown, path: string): string[] {
  return asString(text).trim() === "" ? [`${path}: empty or no text`] : [];
}

function checkPart(part: WireMessage, path: string): string[] {
  if (part.type === "text") return checkText(part.text, `${path}.text`);
  if (part.type !== "image_url") return [`${path}.type: unknown`];
  const url = asString(asRecord(part.image_url).url);
  const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return checkImageData(mediaType, data, path);
}

function checkAssistant(message: WireMessage, path: string): string[] {
  const { content, tool_calls: calls } = message;
  if (calls === undefined) {
    const thinking = THINKING.filter((field) => field in message);
    return [
      ...checkText(content, `${path}.content`),
      ...thinking.map((field) => `${path}.${field}: only with tool calls`),
    ];
  }
  if (!Array.isArray(calls) || calls.length === 0) return [`${path}.tool_calls: empty`];
  return [
    ...(content === null ? [] : checkText(content, `${path}.content`)),
    ...calls.flatMap((call, index) => checkCall(asRecord(call), `${path}.tool_calls[${index}]`)),
    ...THINKING.slice(0, 3).flatMap((field) =>
      message[field] === undefined || typeof message[field] === "string" ? [] : [`${path}.${field}: no text`],
    ),
  ];
}

function checkCall(call: WireMessage, path: string): string[] {
  const called = asRecord(call.function);
  const known = ["id", "type", "function", "extra_content"];
  const rules: Array<[boolean, string]> = [
    [call.type === "function", "type: not a function"],
    [asString(call.id) !== "", "id: required"],
    [/^[a-zA-Z0-9_-]{1,64}$/.test(asString(called.name)), "function.name: invalid"],
    [isRecord(parseJson(asString(called.arguments))), "function.arguments: no object in JSON"],
    [Object.keys(called).length === 2, "function: unknown field"],
    [Object.keys(call).every((key) => known.includes(key)), "unknown field"],
  ];
  return rules.flatMap(([holds, problem]) => (holds ? [] : [`${path}.${problem}`]));
}
