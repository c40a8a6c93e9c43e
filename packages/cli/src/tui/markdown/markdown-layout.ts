import type { Token } from "marked";
import type { Theme } from "../theme.ts";
import type { Highlight } from "./highlight-code.ts";

/** What laying out a piece of Markdown needs. */
export interface MarkdownLayout {
  /** Columns there are for it. */
  width: number;
  theme: Theme;
  /** A sentence with its looks, on one line but for `<br>` and its like. */
  renderInline(tokens: readonly Token[]): string;
  highlight: Highlight;
}

// Running text in longer lines is hard to read.
export const MAX_TEXT_COLUMNS = 120;

// Below that nothing is indented any more.
const MIN_COLUMNS = 10;

/** The room behind something of `columns`, or undefined where what stands there would get too narrow to be read. */
export function indentedBy(layout: MarkdownLayout, columns: number): MarkdownLayout | undefined {
  const width = layout.width - columns;
  return width < MIN_COLUMNS ? undefined : { ...layout, width };
}
