import { generateEntryId } from "../../infrastructure/runtime.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";

// The longest timer, 24 days: users stop their own commands themselves.
const NO_LIMIT_MS = 2 ** 31 - 1;

/** How a command that the user typed is stopped and shown. */
export interface UserCommandOptions {
  /** Aborting it kills everything that the command has started. */
  signal: AbortSignal;
  /** Receives the newest output while it runs. */
  onUpdate?(latest: string): void;
}

/**
 * Runs a command that the user typed as the bash tool runs one of the model's, but without approval, time limit or
 * sandbox, whatever the settings say about those. @throws Error when it cannot be started.
 */
export async function runUserCommand(
  command: string,
  { sandboxState, ...workspace }: Workspace,
  { signal, onUpdate }: UserCommandOptions,
): Promise<ToolResult> {
  const { runShell } = await import("./run-shell.ts");
  // Restores protected files that sandboxed commands have left changed, before a person's command reads them.
  const state = await sandboxState?.();
  const comeBack = state?.kind === "boxed" ? state.wrapper.leave() : () => [];
  let notes: readonly string[] = [];
  const result = await runShell({ command, timeout: NO_LIMIT_MS }, workspace, {
    toolCallId: `user-${generateEntryId()}`,
    signal,
    // The user typed it and so has approved all of it.
    approve: async () => "once",
    ...(onUpdate && { onUpdate }),
  }).finally(() => {
    notes = comeBack();
  });
  return { ...result, output: [result.output, ...notes.map((note) => `[${note}]`)].join("\n") };
}
