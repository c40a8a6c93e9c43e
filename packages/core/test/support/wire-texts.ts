import { asRecord } from "../../src/provider/wire-format.ts";

const TEXT_KEYS = ["content", "text", "output"];

/** What is said in the body of a request of either service, message by message, results of calls included. */
export function wireTexts(body: unknown): string[] {
  const { messages, input } = asRecord(body);
  return textsIn(messages ?? input);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  const record = asRecord(value);
  return TEXT_KEYS.flatMap((key) => (record[key] === undefined ? [] : textsIn(record[key])));
}
