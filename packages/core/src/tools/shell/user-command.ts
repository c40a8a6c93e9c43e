import { generateEntryId } from "../../infrastructure/ids.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";

// The most that a timer takes, 24 days: whoever waits for a command of their own stops it themselves.
const NO_LIMIT_MS = 2 ** 31 - 1;

/** How a command that the user typed is stopped and shown. */
export interface UserCommandOptions {
  /** Aborting it ends everything that the command has started. */
  signal: AbortSignal;
  /** Gets the newest output while it runs. */
  onUpdate?(latest: string): void;
}

/**
 * Runs a command that the user typed as the bash tool runs one of the model's, but without asking and without a time
 * limit, and in no box, whatever is set for those. @throws Error when it cannot be started.
 */
export async function runUserCommand(
  command: string,
  { commandBox, ...workspace }: Workspace,
  { signal, onUpdate }: UserCommandOptions,
): Promise<ToolResult> {
  const { runShell } = await import("./run-shell.ts");
  // What the box has left behind is met before a person's command reads it.
  const state = await commandBox?.();
  const comeBack = state?.kind === "boxed" ? state.box.leave() : () => [];
  let notes: readonly string[] = [];
  const result = await runShell({ command, timeout: NO_LIMIT_MS }, workspace, {
    toolCallId: `user-${generateEntryId()}`,
    signal,
    // Whoever typed it has consented to all of it.
    approve: async () => "once",
    ...(onUpdate && { onUpdate }),
  }).finally(() => {
    notes = comeBack();
  });
  return { ...result, output: [result.output, ...notes.map((note) => `[${note}]`)].join("\n") };
}
