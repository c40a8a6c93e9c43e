import type { AgentLoopConfig, Approve, ChangeTracker, NoticeLevel } from "../agent/types.ts";
import { EMPTY_OUTPUT } from "../history.ts";
import { executeToolCall } from "../tool/execute.ts";
import { createToolRegistry } from "../tool/registry.ts";
import type { ApprovalDecision, KeepOutput, Redactor, Tool, ToolResult } from "../tool/types.ts";
import { RefusedCommandError } from "./errors.ts";
import type { SessionScope } from "./types.ts";

/** The session whose commands are run outside of a run of its model. */
interface CommandRunnerOptions {
  tools: readonly Tool[];
  approve: Approve;
  /** See `AgentLoopConfig`. */
  beforeCall: AgentLoopConfig["beforeCall"];
  redactor: Redactor;
  keepOutput: KeepOutput;
  /** Records what the command changes, so that it can be undone. */
  changes(): ChangeTracker;
  notify(level: NoticeLevel, code: string, message: string): void;
}

/** How a command that the user tries is stopped and shown. */
export interface TriedCommandOptions {
  signal: AbortSignal;
  /** Receives the newest output while it runs. */
  onUpdate?: ((latest: string) => void) | undefined;
}

/**
 * Runs a command that the user has entered in a view of the project, and asks whether its changes are applied. That they
 * have entered it approves the rest. Failures are error results.
 */
export async function runTriedCommand(
  command: string,
  { signal, onUpdate }: TriedCommandOptions,
  { tools, approve, redactor, keepOutput, changes, notify }: CommandRunnerOptions,
): Promise<ToolResult> {
  if (!tools.some(({ name }) => name === "bash"))
    return { output: "This session runs no commands.", isError: true };
  const call = { type: "tool_call" as const, id: "try", name: "bash", input: { command } };
  let isChanging = false;
  const { message, metadata } = await executeToolCall(call, createToolRegistry(tools), {
    signal,
    redactor,
    keepOutput,
    ...(onUpdate && { onUpdate }),
    async decide(request, asked): Promise<ApprovalDecision> {
      if (asked) return { response: "once", tries: true };
      const answer = await approve(request, { announce: () => call.id });
      return typeof answer === "string" ? { response: answer } : answer;
    },
    async beforeChange() {
      isChanging = true;
      await changes().beforeChanges({ isFirst: true, notify });
    },
  });
  if (isChanging) changes().afterChanges();
  const { output, isError } = message;
  return { output, isError, ...(metadata && { metadata }) };
}

/** See `SessionScope.runCommand`. */
export function createCommandRunner(options: CommandRunnerOptions): SessionScope["runCommand"] {
  let count = 0;
  return async (command, signal) => {
    const { tools, approve, beforeCall, redactor, keepOutput, changes, notify } = options;
    if (!tools.some(({ name }) => name === "bash"))
      throw new RefusedCommandError(`Nothing was sent, because this session runs no commands: ${command}`);
    count += 1;
    const call = { type: "tool_call" as const, id: `command-${count}`, name: "bash", input: { command } };
    let isChanging = false;
    const { message, rejection } = await executeToolCall(call, createToolRegistry(tools), {
      signal,
      ...(beforeCall && {
        advise: async (toolName: string, input: Record<string, unknown>) =>
          beforeCall({ toolCallId: call.id, toolName, input }, signal),
      }),
      redactor,
      keepOutput,
      async decide(request, asked): Promise<ApprovalDecision> {
        const answer = await approve(request, { announce: () => call.id, preview: asked?.preview });
        return typeof answer === "string" ? { response: answer } : answer;
      },
      async beforeChange() {
        isChanging = true;
        await changes().beforeChanges({ isFirst: true, notify });
      },
    });
    if (isChanging) changes().afterChanges();
    signal.throwIfAborted();
    if (rejection === undefined && message.outcome !== "rejected")
      return message.output === EMPTY_OUTPUT ? "" : message.output;
    const reason = rejection?.message ?? message.output;
    throw new RefusedCommandError(`Nothing was sent, because a command was not run: ${command}: ${reason}`);
  };
}
