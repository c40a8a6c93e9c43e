import { fitLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import type { Theme } from "../theme.ts";
import { loadedMarkdown } from "./load-markdown.ts";
import { createMarkdownRenderer, type RenderSafeMarkdown } from "./markdown-renderer.ts";
import { isDeeplyNested } from "./nesting.ts";
import { prepareMarkdown } from "./prepare-markdown.ts";

// Longer texts, of which no answer consists, may hold up the keys for a second.
const MAX_CHARS = 100_000;

/**
 * Markdown from outside as lines of at most `width` columns, each with its own looks and safe for a terminal, without
 * empty ones at either end. Plain wrapped text before `loadMarkdown` is done, and for what cannot be read as Markdown.
 */
export function renderMarkdown(
  markdown: string,
  { width, theme }: { width: number; theme: Theme },
): string[] {
  const safe = prepareMarkdown(markdown);
  const lines = renderSafe(safe, width, theme) ?? wrapText(expandTabs(safe.trim()), width);
  return lines.flatMap((line) => (visibleWidth(line) <= width ? [line] : breakLine(line, width)));
}

/** Wrapping counts a few rare characters otherwise than the screen does. */
function breakLine(line: string, width: number): string[] {
  return wrapText(line, width).map((part) => fitLine(part, width));
}

const renderers = new WeakMap<Theme, RenderSafeMarkdown>();

function renderSafe(markdown: string, width: number, theme: Theme): string[] | undefined {
  const libraries = loadedMarkdown();
  if (!libraries || markdown.length > MAX_CHARS || isDeeplyNested(markdown)) return undefined;
  const render = renderers.get(theme) ?? createMarkdownRenderer(libraries, theme);
  renderers.set(theme, render);
  try {
    return render(markdown, width);
  } catch {
    // Such as a thousand quotes within each other. The text is shown in any case.
    return undefined;
  }
}
