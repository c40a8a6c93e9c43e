import { asRecord, asString, isRecord, parseJson } from "../../src/provider/wire-format.ts";
import { checkImageData } from "./wire-values.ts";

export type WireItem = Record<string, unknown> & {
  type: string;
  /** Where it stands, as the API's errors name it. */
  path: string;
};

const FIELDS_OF_ITEM: Readonly<Record<string, readonly string[]>> = {
  message: ["role", "content", "id", "status", "phase"],
  function_call: ["call_id", "name", "arguments", "id", "status", "caller", "namespace", "async"],
  function_call_output: ["call_id", "output"],
  reasoning: ["id", "summary", "content", "encrypted_content", "status"],
};
const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;
const STATUSES: unknown[] = ["in_progress", "completed", "incomplete", undefined];
const ID_PREFIX: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" };

/** What the API refuses about one item, by itself. */
export function checkItem(item: WireItem): string[] {
  const { type, path } = item;
  const fields = FIELDS_OF_ITEM[type];
  const extra = Object.keys(item).filter(
    (key) => key !== "type" && key !== "path" && fields && !fields.includes(key),
  );
  return [
    ...extra.map((key) => `Unknown parameter: '${path}.${key}'`),
    ...(STATUSES.includes(item.status) || !fields ? [] : [`${path}.status: invalid value`]),
    ...checkId(item),
    ...checkContent(item),
  ];
}

function checkId({ type, path, id }: WireItem): string[] {
  if (id === undefined && type !== "reasoning") return [];
  const prefix = ID_PREFIX[type] ?? "";
  return [
    ...(asString(id).startsWith(prefix)
      ? []
      : [`Invalid '${path}.id': expected an id that begins with ${prefix}`]),
    ...(asString(id).length <= 64 ? [] : [`Invalid '${path}.id': string too long`]),
  ];
}

function checkContent(item: WireItem): string[] {
  const { path } = item;
  switch (item.type) {
    case "message":
      return checkMessage(item);
    case "function_call":
      return [
        ...(isRecord(parseJson(asString(item.arguments))) ? [] : [`${path}.arguments: not an object`]),
        ...(FITTING.test(asString(item.name)) ? [] : [`${path}.name: does not match the pattern`]),
        ...checkCallId(item),
      ];
    case "function_call_output":
      return [...checkCallId(item), ...checkParts(item.output, "user", `${path}.output`)];
    default:
      return item.status === "in_progress" || item.status === "incomplete"
        ? [`${path}: is half an item`]
        : [];
  }
}

function checkCallId({ path, call_id }: WireItem): string[] {
  return FITTING.test(asString(call_id)) ? [] : [`${path}.call_id: does not fit`];
}

function checkMessage({ role, content, id, phase, path }: WireItem): string[] {
  if (!["user", "assistant", "system", "developer"].includes(asString(role)))
    return [`${path}.role: invalid`];
  const isAnswer = role === "assistant";
  return [
    ...(id === undefined || (isAnswer && Array.isArray(content)) ? [] : [`${path}.id: not for this message`]),
    ...(isAnswer && Array.isArray(content) && id === undefined ? [`${path}.id: required`] : []),
    ...(phase === undefined || (isAnswer && ["commentary", "final_answer"].includes(asString(phase)))
      ? []
      : [`${path}.phase: invalid`]),
    ...checkParts(content, asString(role), `${path}.content`),
  ];
}

function checkParts(content: unknown, role: string, path: string): string[] {
  if (typeof content === "string") return content.trim() === "" ? [`${path}: empty`] : [];
  if (!Array.isArray(content) || content.length === 0) return [`${path}: empty`];
  return content.flatMap((part, index) => checkPart(asRecord(part), role, `${path}[${index}]`));
}

function checkPart(part: Record<string, unknown>, role: string, path: string): string[] {
  const type = asString(part.type);
  const isOfAnswer = type === "output_text" || type === "refusal" || type.startsWith("output_");
  if (isOfAnswer !== (role === "assistant")) return [`${path}: invalid value '${type}' in a ${role} message`];
  if (type === "input_text") return asString(part.text).trim() === "" ? [`${path}: empty text`] : [];
  if (type === "output_text") {
    return typeof part.text === "string" && Array.isArray(part.annotations)
      ? []
      : [`${path}: output_text needs text and annotations`];
  }
  if (type === "refusal") return typeof part.refusal === "string" ? [] : [`${path}: refusal is required`];
  return type === "input_image" ? checkImagePart(part, path) : [];
}

function checkImagePart({ image_url, detail }: Record<string, unknown>, path: string): string[] {
  const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(asString(image_url)) ?? [];
  return [
    ...(["low", "high", "auto", "original"].includes(asString(detail)) ? [] : [`${path}.detail: required`]),
    ...checkImageData(mediaType, data, path),
  ];
}
