import { generateEntryId } from "../../infrastructure/runtime.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";

// The longest timer, 24 days: users stop their own commands.
const NO_LIMIT_MS = 2 ** 31 - 1;

/** How a command of the user is stopped and shown. */
export interface UserCommandOptions {
  /** Aborting it kills all processes of the command. */
  signal: AbortSignal;
  /** Receives the newest output while it runs. */
  onUpdate?(latest: string): void;
}

/**
 * Runs a command that the user entered like a command of the model, but without approval, time limit or sandbox,
 * whatever the settings say. @throws Error when it cannot be started.
 */
export async function runUserCommand(
  command: string,
  { sandboxState, noteUnseen, ...workspace }: Workspace,
  { signal, onUpdate }: UserCommandOptions,
): Promise<ToolResult> {
  noteUnseen?.({ purpose: "command", command });
  const { runShell } = await import("./run-shell.ts");
  // Removes protected files left by sandboxed commands before the user's command can read them.
  const state = await sandboxState?.();
  const finishOutside = state?.kind === "boxed" ? state.wrapper.leave() : () => [];
  let notes: readonly string[] = [];
  const result = await runShell({ command, timeout: NO_LIMIT_MS }, workspace, {
    toolCallId: `user-${generateEntryId()}`,
    signal,
    // The user entered the command, which approves all of it.
    approve: async () => "once",
    ...(onUpdate && { onUpdate }),
  }).finally(() => {
    notes = finishOutside();
  });
  return { ...result, output: [result.output, ...notes.map((note) => `[${note}]`)].join("\n") };
}
