import type { ToolCallOutcome } from "@diligent/core";
import type { ToolCallView } from "../../src/tui/view.ts";

/** A call that began at 0 and, if a result is given, ended after `endedAt` milliseconds (default 100). */
export function toolCall(
  toolName: string,
  input: unknown,
  result?: {
    output: string;
    isError?: boolean;
    outcome?: ToolCallOutcome;
    metadata?: Record<string, unknown>;
    endedAt?: number;
  },
): ToolCallView {
  const call = { toolCallId: "call-1", toolName, input, startedAt: 0 };
  return result ? { ...call, result: { isError: false, metadata: {}, endedAt: 100, ...result } } : call;
}
