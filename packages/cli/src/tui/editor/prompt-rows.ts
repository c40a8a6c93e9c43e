import type { PromptTheme } from "./prompt-theme.ts";
import { showStandIns } from "./stand-in.ts";
import type { TextAreaRows } from "./text-area.ts";

/** What is before every row. */
export const MARKER_COLUMNS = 2;

/** Rows of the prompt, with the completion list below; of the text as many around the cursor as there is room for. */
export function drawPrompt(
  rows: TextAreaRows,
  { maxRows, theme, isShell }: { maxRows: number; theme: PromptTheme; isShell: boolean },
): string[] {
  const { text, cursorRow, completion } = rows;
  const count = Math.min(text.length, Math.max(1, maxRows - completion.length));
  const start = Math.max(0, Math.min(cursorRow - count + 1, text.length - count));
  const hiddenAbove = rows.hiddenAbove + start;
  const hiddenBelow = rows.hiddenBelow + text.length - start - count;
  const shown = text.slice(start, start + count).map((row, index) => {
    const isAbove = index === 0 && hiddenAbove > 0;
    const isBelow = index === count - 1 && hiddenBelow > 0;
    const isFirst = index === 0 && hiddenAbove === 0;
    return markRow({ isAbove, isBelow, isFirst, isShell }, theme) + showStandIns(row, theme.label);
  });
  return [...shown, ...completion.map((row) => " ".repeat(MARKER_COLUMNS) + row)];
}

interface RowPlace {
  /** More text is above, below this row. */
  isAbove: boolean;
  isBelow: boolean;
  /** The text begins here. */
  isFirst: boolean;
  /** It is a command for the shell. */
  isShell: boolean;
}

function markRow({ isAbove, isBelow, isFirst, isShell }: RowPlace, { marker }: PromptTheme): string {
  if (isAbove && isBelow) return marker("↕ ");
  if (isAbove) return marker("↑ ");
  if (isBelow) return marker("↓ ");
  if (isFirst && isShell) return marker("$ ");
  return isFirst ? marker("> ") : " ".repeat(MARKER_COLUMNS);
}
