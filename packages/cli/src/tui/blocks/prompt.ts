import { sanitizeTerminalText } from "../../terminal-text.ts";
import { wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { formatCount } from "../text/format-amount.ts";
import type { BlockContext } from "./block-context.ts";

const MARK = "> ";
const MAX_ROWS = 12;
const SHOWN_ROWS = 6;

/** What the user wrote, marked; of a long text the first lines and how many there are. */
export function renderPrompt(text: string, { width, theme }: BlockContext): string[] {
  const inner = Math.max(1, width - MARK.length);
  const trimmed = text.replace(/^(?:[ \t]*\r?\n)+/, "").trimEnd();
  // No more is laid out than could be shown.
  const head = trimmed.slice(0, inner * (MAX_ROWS + 1) * 2);
  const rows = wrapText(expandTabs(sanitizeTerminalText(head)), inner);
  const isWhole = head.length === trimmed.length && rows.length <= MAX_ROWS;
  const shown = (isWhole ? rows : rows.slice(0, SHOWN_ROWS)).map(theme.user);
  const all = isWhole ? shown : [...shown, theme.dim(describeLength(trimmed))];
  return all.map((row, index) => (index === 0 ? theme.accent(theme.bold(MARK)) + row : `  ${row}`.trimEnd()));
}

function describeLength(text: string): string {
  const lines = text.split("\n").length;
  return `[${lines > SHOWN_ROWS ? formatCount(lines, "line") : formatCount(text.length, "character")}]`;
}
