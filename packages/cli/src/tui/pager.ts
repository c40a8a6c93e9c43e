import { resolveExecutable, systemErrorText } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import type { CommandContext } from "./commands/types.ts";
import { readCommandWords } from "./editor/command-words.ts";

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
  const line = environment.PAGER?.trim() || "less";
  const [name, ...args] = readCommandWords(line) ?? [];
  if (name === undefined) return `$PAGER, ${line}, cannot be read as a command.`;
  const program = name.includes("/") ? name : resolveExecutable(name, { environment, outside: root });
  if (program === undefined) return `The pager ${name} was not found in PATH; set $PAGER to one.`;
  try {
    await lendTerminal(async () => {
      const child = Bun.spawn([program, ...args], {
        cwd: root,
        env: pagerEnvironment(environment),
        stdin: new Blob([text]),
        stdout: "inherit",
        stderr: "inherit",
      });
      await child.exited;
    });
    return undefined;
  } catch (error) {
    return `The pager ${name} could not be started: ${systemErrorText(error)}`;
  }
}

/** By name, so that no key gets to a program which only shows a text. */
const WANTED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TERMINFO\w*|COLORTERM|NO_COLOR|LANG|LANGUAGE|LC_\w+|LESS\w*|MORE|MOST\w*|BAT_\w+|TMPDIR|TMUX|XDG_\w+)$/;

function pagerEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && WANTED.test(name)) kept[name] = value;
  return kept;
}
