import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { fullBlockText } from "./blocks/tool-renderers.ts";
import type { CommandContext } from "./commands/types.ts";
import { findUserProgram } from "./prompt/user-program.ts";
import { type ExpandableBlock, notice, type ToolCallView } from "./view.ts";

interface PagerOptions extends Pick<CommandContext, "environment" | "lendTerminal"> {
  /** The project's real path: none of its programs is run. */
  root: string;
}

/**
 * Passes on each text that follows a shown one, safe for a terminal, and the end of all; until the returned function is
 * called.
 */
export type Continuation = (shown: { write(more: string): void; end(): void }) => () => void;

/**
 * Shows a text in `$PAGER`, `less` by default; nothing of it is written to disk.
 * @param text safe for a terminal.
 * @param continuation what follows while it is shown; `less` scrolls to it as it arrives.
 * @returns the reason if it could not be shown, as a message for the user.
 */
async function showInPager(
  text: string,
  { environment, lendTerminal, root }: PagerOptions,
  continuation?: Continuation,
): Promise<string | undefined> {
  const found = findUserProgram(environment.PAGER?.trim() || "less", {
    kind: "pager",
    advice: "Set $PAGER to a pager.",
    environment,
    root,
  });
  if ("error" in found) return found.error;
  try {
    await lendTerminal(async (ended) => {
      const growing = continuation && growingText(text, continuation);
      const child = Bun.spawn([...found.argv, ...(growing && isLess(found.argv) ? ["+F"] : [])], {
        cwd: root,
        env: found.environment,
        stdin: growing?.stream ?? new Blob([text]),
        stdout: "inherit",
        stderr: "inherit",
        signal: ended,
      });
      await child.exited;
      growing?.stop();
    });
    return undefined;
  } catch (error) {
    return `The pager ${found.name} could not be started: ${systemErrorText(error)}`;
  }
}

function isLess([program = ""]: readonly string[]): boolean {
  return basename(program) === "less";
}

function growingText(text: string, continuation: Continuation) {
  const encoder = new TextEncoder();
  let unfollow: (() => void) | undefined;
  const stop = () => {
    unfollow?.();
    unfollow = undefined;
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (more: string) => controller.enqueue(encoder.encode(more));
      const end = () => {
        stop();
        controller.close();
      };
      write(text);
      unfollow = continuation({ write, end });
    },
    cancel: stop,
  });
  return { stream, stop };
}

/** Shows a text that is safe for a terminal, and reports if that fails. */
export async function showDocument(text: string, context: CommandContext): Promise<void> {
  const { loaded } = await context.session();
  const problem = await showInPager(text, {
    environment: context.environment,
    lendTerminal: (run) => context.lendTerminal(run),
    root: loaded.projectRoot,
  });
  if (problem !== undefined) context.show(notice("error", problem));
}

// A pager takes this much at once without delay; the file itself has more.
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/**
 * Shows a call with its whole result, or a thought, in the pager, or in the transcript if there is no pager.
 */
export async function showInFull(block: ExpandableBlock, context: CommandContext): Promise<void> {
  const text =
    block.type === "thinking"
      ? `Thinking\n\n${sanitizeTerminalText(block.text).trim()}\n`
      : fullBlockText(block) + wholeOutput(block.call);
  await showText(text, context);
}

/**
 * Shows a text, which is made safe for the terminal, in the pager, or in the transcript if there is none.
 * @param continuation what follows while the pager is open.
 */
export async function showText(
  given: string,
  context: CommandContext,
  continuation?: Continuation,
): Promise<void> {
  const text = sanitizeTerminalText(given);
  if (context.isPlain) return context.print(text);
  const { loaded } = await context.session();
  const root = loaded.projectRoot;
  const problem = await showInPager(text, { root, ...context }, continuation);
  if (problem === undefined) return;
  context.show(notice("warning", problem));
  context.print(text);
}

/** The complete output that the session saved, if the model's copy was truncated. */
function wholeOutput({ result }: ToolCallView): string {
  const path = result?.metadata.outputPath;
  if (typeof path !== "string") return "";
  try {
    if (statSync(path).size > MAX_WHOLE_BYTES) return `\nThe whole output is in ${path}\n`;
    return `\nThe whole output:\n\n${sanitizeTerminalText(readFileSync(path, "utf8"))}`;
  } catch (error) {
    return `\nThe whole output, ${path}, cannot be read: ${systemErrorText(error)}\n`;
  }
}
