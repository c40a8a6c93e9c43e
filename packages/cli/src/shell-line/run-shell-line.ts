import type { ToolResult } from "@diligent/core/run";
import type { OpenSession } from "../open-session.ts";
import type { ShellLine } from "./read-shell-line.ts";

interface ShellOptions {
  signal: AbortSignal;
  /** Gets the newest output while it runs. */
  onUpdate?(latest: string): void;
}

/** Runs a command of the user's own: nobody is asked, since they typed it. @throws Error when it cannot be started. */
export async function runShellLine(
  { command }: ShellLine,
  { workspace }: Pick<OpenSession, "workspace">,
  options: ShellOptions,
): Promise<ToolResult> {
  const { runUserCommand } = await import("@diligent/core/interactive");
  return runUserCommand(command, workspace, options);
}

/** Lets the model know of the command and its result with the next request, unless the user kept it to themselves. */
export async function tellOfShellLine(
  { command, isTold }: ShellLine,
  { output, metadata }: ToolResult,
  { session }: Pick<OpenSession, "session">,
): Promise<void> {
  if (!isTold) return;
  const { toShellNote } = await import("@diligent/core/interactive");
  const exitCode = typeof metadata?.exitCode === "number" ? metadata.exitCode : null;
  await session.tell(toShellNote({ command, output, exitCode }));
}
