/**
 * Renders Markdown from stdin, a JSON list of texts, and prints what came of each as JSON: `before` the libraries are
 * there, and `lines` with colours. A process of its own, since marked-terminal decides at its start whether it has a
 * terminal.
 */
import { loadMarkdown, renderMarkdown } from "../../src/tui/markdown/render.ts";
import { createTheme } from "../../src/tui/theme.ts";

const texts: string[] = await Bun.stdin.json();
const look = { width: 40, theme: createTheme({ color: true }) };
const before = texts.map((text) => renderMarkdown(text, look));
await loadMarkdown();
const lines = texts.map((text) => renderMarkdown(text, look));
console.log(JSON.stringify({ before, lines }));
