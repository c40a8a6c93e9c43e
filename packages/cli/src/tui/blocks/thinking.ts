import { sanitizeTerminalText } from "../../terminal-text.ts";
import type { Block } from "../blocks.ts";
import { wrapText } from "../screen/screen-text.ts";
import { lastLines } from "../text/cut-lines.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { formatDuration } from "../text/format-amount.ts";
import type { BlockContext } from "./block-context.ts";

const MAX_LIVE_ROWS = 4;
// In tenths of a second, a shorter time would be none.
const MIN_SHOWN_MS = 100;

/** What the model thinks, its last lines; once it is over only how long it took. */
export function renderThinking(
  { text, startedAt, endedAt }: Extract<Block, { type: "thinking" }>,
  { width, theme }: BlockContext,
): string[] {
  if (endedAt !== undefined)
    return [theme.dim(`Thought for ${formatDuration(Math.max(MIN_SHOWN_MS, endedAt - startedAt))}`)];
  // Only its end is laid out, however long it has become.
  const end = text.slice(-width * (MAX_LIVE_ROWS + 1) * 2).trim();
  if (end === "") return [];
  const rows = wrapText(expandTabs(sanitizeTerminalText(end)), width).filter((row) => row.trim() !== "");
  return lastLines(rows, MAX_LIVE_ROWS).shown.map((row) => theme.dim(theme.italic(row)));
}
