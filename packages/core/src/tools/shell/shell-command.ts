import { createChildEnvironment, resolveExecutable } from "../../infrastructure/process/environment.ts";
import type { ShellCommand } from "../../infrastructure/process/shell-wrapper.ts";
import type { Workspace } from "../workspace.ts";

// Linux takes one argument of at most 32 pages, its closing NUL included.
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/** A line for a shell, as it runs without a sandbox. @throws Error, for the model, for one that no shell can be given. */
export function toShellCommand(line: string, workspace: Workspace): ShellCommand {
  refuseUnrunnable(line);
  return {
    argv: [findShell(workspace), "-c", line],
    cwd: workspace.cwd,
    environment: createChildEnvironment(workspace),
    writtenFiles: () => workspace.files.findAsWritten(),
  };
}

function refuseUnrunnable(command: string): void {
  if (command.includes("\0"))
    throw new Error("The command contains a NUL character, which cannot be passed to a program.");
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new Error(
      `The command has ${bytes} bytes; the system takes at most ${MAX_COMMAND_BYTES}. Write it to a file and run that.`,
    );
  }
}

function findShell({ environment, root }: Workspace): string {
  const find = (name: string) => resolveExecutable(name, { environment, outside: root });
  const shell = find("bash") ?? find("sh");
  if (shell === undefined) throw new Error("There is neither bash nor sh in PATH outside the project.");
  return shell;
}
