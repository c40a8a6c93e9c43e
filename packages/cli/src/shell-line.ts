import type { ProjectSession } from "@diligent/core/harness";
import type { ToolResult } from "@diligent/core/run";

/** A shell command typed by the user, and whether it is shared with the model. */
export interface ShellLine {
  /** Empty if nothing follows the marks. */
  command: string;
  /** False for `!!`: it appears in no context and no file. */
  isSharedWithModel: boolean;
}

/** `!command` and `!!command`; undefined for any other text. */
export function readShellLine(text: string): ShellLine | undefined {
  const [, marks, command = ""] = /^\s*(!!?)([\s\S]*)$/.exec(text) ?? [];
  return marks === undefined ? undefined : { command: command.trim(), isSharedWithModel: marks === "!" };
}

/** The message for marks without a command. */
export const NO_COMMAND = "Type a shell command after !, or after !! to hide it from the model.";

interface ShellOptions {
  signal: AbortSignal;
  /** Gets the newest output while it runs. */
  onUpdate?(latest: string): void;
}

/** Runs a shell command of the user, without approval since they typed it. @throws Error if it cannot be started. */
export async function runShellLine(
  { command }: ShellLine,
  { workspace }: Pick<ProjectSession, "workspace">,
  options: ShellOptions,
): Promise<ToolResult> {
  const { runUserCommand } = await import("@diligent/core/interactive");
  return runUserCommand(command, workspace, options);
}

/** Shares the command and its result with the model in the next request, unless it was typed with `!!`. */
export async function shareShellLine(
  { command, isSharedWithModel: isTold }: ShellLine,
  { output, metadata }: ToolResult,
  { session }: Pick<ProjectSession, "session">,
): Promise<void> {
  if (!isTold) return;
  const { toShellNote } = await import("@diligent/core/interactive");
  const exitCode = typeof metadata?.exitCode === "number" ? metadata.exitCode : null;
  await session.notify(toShellNote({ command, output, exitCode }));
}
