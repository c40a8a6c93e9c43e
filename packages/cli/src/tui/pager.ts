import { systemErrorText } from "@diligent/core/interactive";
import type { CommandContext } from "./commands/types.ts";
import { findUserProgram } from "./user-program.ts";

interface PagerOptions extends Pick<CommandContext, "environment" | "lendTerminal"> {
  /** The project, real: no program of it is run. */
  root: string;
}

/**
 * Shows a text in `$PAGER`, `less` by default; nothing of it is written to a disk.
 * @param text safe for a terminal.
 * @returns why it could not be shown, in words for the user.
 */
export async function showInPager(
  text: string,
  { environment, lendTerminal, root }: PagerOptions,
): Promise<string | undefined> {
  const found = findUserProgram(environment.PAGER?.trim() || "less", {
    kind: "pager",
    advice: "Set $PAGER to one.",
    environment,
    root,
  });
  if ("error" in found) return found.error;
  try {
    await lendTerminal(async (ended) => {
      const child = Bun.spawn(found.argv, {
        cwd: root,
        env: found.environment,
        stdin: new Blob([text]),
        stdout: "inherit",
        stderr: "inherit",
        signal: ended,
      });
      await child.exited;
    });
    return undefined;
  } catch (error) {
    return `The pager ${found.name} could not be started: ${systemErrorText(error)}`;
  }
}
