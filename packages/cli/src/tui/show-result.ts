import { readFileSync, statSync } from "node:fs";
import { systemErrorText } from "@diligent/core/interactive";
import { sanitizeTerminalText } from "../terminal-text.ts";
import type { CallBlock, ToolCallView } from "./blocks.ts";
import type { CommandContext } from "./commands/types.ts";
import { showInPager } from "./pager.ts";
import { fullBlockText } from "./tools/index.ts";
import { notice } from "./view.ts";

// What a pager takes at once without making anybody wait; the file itself can be looked at for more.
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/** Shows a call with its whole result in the pager; in the transcript where there is none. */
export async function showResult(block: CallBlock, context: CommandContext): Promise<void> {
  const { loaded } = await context.session();
  const text = fullBlockText(block) + wholeOutput(block.call);
  const root = loaded.projectRoot;
  const problem = await showInPager(text, { root, ...context });
  if (problem === undefined) return;
  context.show(notice("warning", problem));
  context.print(text);
}

/** Of an output that was cut for the model, what the session kept of it. */
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
