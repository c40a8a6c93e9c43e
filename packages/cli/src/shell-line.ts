import type { ProjectSession } from "@diligent/core/harness";
import type { ToolResult } from "@diligent/core/run";

/** A shell command typed by the user, and whether it is shared with the model. */
export interface ShellLine {
  /** Empty if nothing follows the marks. */
  command: string;
  /** False for `!!`: it appears in no context and no file. */
  isSharedWithModel: boolean;
  /** True for `/try`: it runs in a view of the project, and the model knows of it only if its changes are applied. */
  isTried?: true;
}

/** `!command`, `!!command` and `/try command`; undefined for any other text. */
export function readShellLine(text: string): ShellLine | undefined {
  const [, tried] = /^\s*\/try\s+(\S[\s\S]*)$/.exec(text) ?? [];
  if (tried !== undefined) return { command: tried.trim(), isSharedWithModel: false, isTried: true };
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
  { command, isTried }: ShellLine,
  { workspace, tryCommand }: Pick<ProjectSession, "workspace" | "tryCommand">,
  options: ShellOptions,
): Promise<ToolResult> {
  if (isTried) return tryCommand(command, options);
  const { runUserCommand } = await import("@diligent/core/interactive");
  return runUserCommand(command, workspace, options);
}

/** Shares the command and its result with the model in the next request, unless it was typed with `!!` or was only tried. */
export async function shareShellLine(
  { command, isSharedWithModel: isTold }: ShellLine,
  { output, metadata }: ToolResult,
  { session }: Pick<ProjectSession, "session">,
): Promise<void> {
  if (!isTold && metadata?.tried !== "applied") return;
  const { toShellNote } = await import("@diligent/core/interactive");
  const exitCode = typeof metadata?.exitCode === "number" ? metadata.exitCode : null;
  await session.notify(toShellNote({ command, output, exitCode }));
}
