import { sanitizeTerminalText } from "../../text/terminal-text.ts";
import { fitLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text.ts";
import type { Theme } from "../theme.ts";
import { isDeeplyNested } from "./layout.ts";
import { createMarkdownRenderer, type MarkdownLibraries, type RenderSafeMarkdown } from "./renderer.ts";

// Rendering longer texts could block the keys for a second; no answer is that long.
const MAX_CHARS = 100_000;

/**
 * Outside Markdown as lines of at most `width` columns, styled and safe for a terminal, without empty lines
 * at either end. Before `loadMarkdown` is done, and for unparseable Markdown, plain wrapped text.
 */
export function renderMarkdown(
  markdown: string,
  { width, theme }: { width: number; theme: Theme },
): string[] {
  const safe = prepareMarkdown(markdown);
  const lines = renderSafe(safe, width, theme) ?? wrapText(expandTabs(safe.trim()), width);
  return lines.flatMap((line) => (visibleWidth(line) <= width ? [line] : breakLine(line, width)));
}

/** Wrapping counts a few rare characters differently than the screen does. */
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
    // For example, a thousand nested quotes. The text is shown in any case.
    return undefined;
  }
}

let loading: Promise<void> | undefined;
let libraries: MarkdownLibraries | undefined;

/**
 * Loads what `renderMarkdown` and `cutFinished` need; before that, the former shows plain text and the latter
 * cuts nothing. Call it when the program is idle, for example while the first answer is awaited.
 */
export function loadMarkdown(): Promise<void> {
  loading ??= load();
  return loading;
}

/** Undefined before `loadMarkdown` is done. */
export function loadedMarkdown(): MarkdownLibraries | undefined {
  return libraries;
}

async function load(): Promise<void> {
  const { createSyntax } = await import("./syntax.ts");
  const { Marked, Parser } = await import("marked");
  const { markedTerminal } = await import("marked-terminal");
  libraries = { syntax: createSyntax(), Marked, Parser, markedTerminal };
}

/**
 * Outside Markdown made safe, with the same line feeds, and without text that marked parses inconsistently: a
 * line of blanks other than spaces and tabs, which it sometimes treats as empty, and a list marker followed
 * by a tab, after which it may treat the item as a heading if a line of `=` follows.
 */
export function prepareMarkdown(markdown: string): string {
  const safe = sanitizeTerminalText(markdown).replace(MARKER_WITH_TAB, expandMarker);
  if (!UNUSUAL_BLANK.test(safe)) return safe;
  return safe.split("\n").map(trimUnusualBlanks).join("\n");
}

const MARKER_WITH_TAB = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))\t/gm;

function expandMarker(_: string, marker: string): string {
  return marker + " ".repeat(4 - (marker.length % 4));
}

const UNUSUAL_BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

function trimUnusualBlanks(line: string): string {
  const kept = line.trimEnd();
  return UNUSUAL_BLANK.test(line.slice(kept.length)) ? kept : line;
}
