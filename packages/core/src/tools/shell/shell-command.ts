import { createChildEnvironment, resolveExecutable } from "../../infrastructure/process/environment.ts";
import type { ShellCommand } from "../../infrastructure/process/shell-wrapper.ts";
import type { SecretRedactor } from "../../infrastructure/text/secret-redactor.ts";
import type { ToolContext } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";

// Linux takes one argument of at most 32 pages, its closing NUL included.
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/** A line for a shell, as it runs without a sandbox. @throws Error, for the model, for one that no shell can be given. */
export function toShellCommand(
  given: string,
  workspace: Workspace,
  { insertsSecrets = false }: Pick<ToolContext, "insertsSecrets"> = {},
): ShellCommand {
  const line = insertsSecrets ? insertSecrets(given, workspace) : given;
  refuseUnrunnable(line);
  return {
    argv: [findShell(workspace), "-c", line],
    cwd: workspace.cwd,
    environment: createChildEnvironment(workspace),
    writtenFiles: () => workspace.files.findAsWritten(),
  };
}

// What a shell takes as it is, also in quotes.
const PLAIN_VALUE = /^[\w.+/=:~@%,-]+$/;

/**
 * The values in place of their placeholders.
 * @throws Error for a value that the shell would read as more than text.
 */
function insertSecrets(line: string, { redactor }: Workspace): string {
  if (!redactor) return line;
  return findInsertable(line, redactor).reduce((inserted, placeholder) => {
    const value = redactor.valueOf(placeholder) ?? placeholder;
    if (!PLAIN_VALUE.test(value))
      throw new Error(
        `The command was not run: the value of ${placeholder} has signs that a shell reads. Write it to a file with write, and let the command read that file.`,
      );
    return inserted.replaceAll(placeholder, () => value);
  }, line);
}

/** For the model: which placeholders a command had in place of their values; undefined if there are none. */
export function describeKeptPlaceholders(line: string, { redactor }: Workspace): string | undefined {
  const placeholders = redactor ? findInsertable(line, redactor) : [];
  if (placeholders.length === 0) return undefined;
  return `The command ran with ${placeholders.join(", ")} as plain text: a secret is inserted only once the user has agreed, and nobody could be asked.`;
}

function findInsertable(line: string, redactor: SecretRedactor): string[] {
  return redactor.placeholdersIn(line).filter((placeholder) => redactor.valueOf(placeholder) !== undefined);
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
