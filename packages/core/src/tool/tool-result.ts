import { now } from "../infrastructure/clock.ts";
import { EMPTY_OUTPUT, isBlank } from "../result-texts.ts";
import type { ToolCallBlock, ToolCallOutcome, ToolResultMessage } from "../types.ts";
import type { ToolResult } from "./types.ts";

// An exit code, counts, a path: what else a tool has to show, such as a diff, would make session files large.
const MAX_TEXT_CHARS = 300;
const MAX_FACTS = 16;

/** The message that answers `call`. `outcome` is that of an error; it has failed when left out. */
export function toToolResultMessage(
  call: ToolCallBlock,
  result: ToolResult,
  outcome: ToolCallOutcome = "failed",
): ToolResultMessage {
  const facts = Object.entries(result.metadata ?? {})
    .flatMap(toFact)
    .slice(0, MAX_FACTS);
  return {
    role: "tool_result",
    toolCallId: call.id,
    toolName: call.name,
    output: isBlank(result.output) ? EMPTY_OUTPUT : result.output,
    ...(result.images && result.images.length > 0 && { images: result.images }),
    isError: result.isError ?? false,
    ...(result.isError && { outcome }),
    ...(facts.length > 0 && { metadata: Object.fromEntries(facts) }),
    timestamp: now(),
  };
}

function toFact([name, value]: [string, unknown]): [string, string | number | boolean][] {
  if (typeof value === "boolean") return [[name, value]];
  if (typeof value === "number") return Number.isFinite(value) ? [[name, value]] : [];
  return typeof value === "string" && value.length <= MAX_TEXT_CHARS ? [[name, value]] : [];
}
