import type { Syntax } from "./markdown-syntax.ts";

/** What reads Markdown and colours code: 100 ms and 30 MB, most of it the languages of the highlighter. */
export interface MarkdownLibraries {
  syntax: Syntax;
  Parser: typeof import("marked").Parser;
  Marked: typeof import("marked").Marked;
  markedTerminal: typeof import("marked-terminal").markedTerminal;
}

let loading: Promise<void> | undefined;
let libraries: MarkdownLibraries | undefined;

/**
 * Makes Markdown readable for `renderMarkdown` and `cutFinished`; until then the one shows plain text and the other cuts
 * nothing off. To be called when the program has a moment, such as while the first answer is awaited.
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
  const { createSyntax } = await import("./markdown-syntax.ts");
  const { Marked, Parser } = await import("marked");
  const { markedTerminal } = await import("marked-terminal");
  libraries = { syntax: createSyntax(), Marked, Parser, markedTerminal };
}
