/**
 * Renders Markdown from stdin, a JSON list of texts, and prints each result as JSON: `before` the libraries
 * are loaded, and `lines` with colours. A separate process, since marked-terminal decides at its start
 * whether it has a terminal.
 */
import { loadMarkdown, renderMarkdown } from "../../src/tui/markdown/render.ts";
import { createTheme } from "../../src/tui/theme.ts";

const texts: string[] = await Bun.stdin.json();
const look = { width: 40, theme: createTheme({ color: true }) };
const before = texts.map((text) => renderMarkdown(text, look));
await loadMarkdown();
const lines = texts.map((text) => renderMarkdown(text, look));
console.log(JSON.stringify({ before, lines }));
