import type { ToolCallBlock } from "../types.ts";
import { asRecord, isRecord, parseJson } from "./json-value.ts";

/**
 * The arguments of a tool call from their JSON. What is no object, or was cut off before it began, is kept word for
 * word as `invalidInput`.
 *
 * @param startInput the arguments where the call began with them, as some servers send it.
 */
export function toCallInput(
  json: string,
  isCut: boolean,
  startInput?: unknown,
): Pick<ToolCallBlock, "input" | "invalidInput"> {
  if (json.trim() !== "") {
    const input = parseJson(json);
    return isRecord(input) ? { input } : { input: {}, invalidInput: json };
  }
  const input = asRecord(startInput);
  // No arguments at all are an empty object, unless the end came before they did.
  return isCut && Object.keys(input).length === 0 ? { input, invalidInput: "" } : { input };
}
