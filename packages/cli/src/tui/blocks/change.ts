import { sanitizeTerminalText, toSingleLine } from "../../terminal-text.ts";
import type { Block } from "../blocks.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { renderDiff } from "../tools/diff/render-diff.ts";
import type { BlockContext } from "./block-context.ts";

// Of a change that is longer nobody reads more in a transcript.
const MAX_LINES = 400;
const MAX_PATH_COLUMNS = 300;

/** `src/a.ts +3 −1` and all of the difference. */
export function renderChangeBlock(
  { path, diff, added, removed }: Extract<Block, { type: "change" }>,
  { width, theme }: BlockContext,
): string[] {
  const safe = expandTabs(sanitizeTerminalText(diff));
  return [
    `${theme.bold(toSingleLine(path, MAX_PATH_COLUMNS))} ${theme.dim(`+${added} −${removed}`)}`,
    ...renderDiff(safe, { width, theme, maxLines: MAX_LINES }),
  ];
}
