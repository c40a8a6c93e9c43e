import { now } from "../infrastructure/clock.ts";
import { EMPTY_OUTPUT, isBlank } from "../result-texts.ts";
import type { ToolCallBlock, ToolResultMessage } from "../types.ts";
import type { ToolResult } from "./types.ts";

/** The message that answers `call`. */
export function toToolResultMessage(call: ToolCallBlock, result: ToolResult): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: call.id,
    toolName: call.name,
    output: isBlank(result.output) ? EMPTY_OUTPUT : result.output,
    ...(result.images && result.images.length > 0 && { images: result.images }),
    isError: result.isError ?? false,
    timestamp: now(),
  };
}
