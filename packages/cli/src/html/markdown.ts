import { Marked, type Token, type Tokens } from "marked";
import { isDeeplyNested } from "../tui/markdown/layout.ts";
import { escapeHtml, type Html, html, trusted } from "./page.ts";

// Longer texts take the parser seconds.
const MAX_CHARS = 100_000;

/**
 * Markdown as HTML. What is HTML in it is shown as text, links lead only to web pages and mail addresses, and images are
 * links: a page loads nothing.
 */
export function renderMarkdownPage(text: string): Html {
  if (text.length > MAX_CHARS || isDeeplyNested(text)) return html`<pre>${text}</pre>`;
  try {
    const rendered = parser.parse(text, { async: false });
    return trusted(rendered);
  } catch {
    // For example, a thousand nested quotes. The text is shown in any case.
    return html`<pre>${text}</pre>`;
  }
}

const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i;

const parser = new Marked({
  gfm: true,
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return escapeHtml(text);
    },
    text(token: Tokens.Text | Tokens.Escape) {
      if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
      return escapeHtml(plainText(token));
    },
    code({ text }: Tokens.Code) {
      return `<pre><code>${escapeHtml(text)}</code></pre>\n`;
    },
    codespan({ text }: Tokens.Codespan) {
      return `<code>${escapeHtml(text)}</code>`;
    },
    link({ href, tokens }: Tokens.Link) {
      const shown = this.parser.parseInline(tokens);
      if (!SAFE_ADDRESS.test(href)) return `${shown} (${escapeHtml(href)})`;
      return `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${shown}</a>`;
    },
    image({ href, text }: Tokens.Image) {
      const shown = escapeHtml(`[image: ${text || href}]`);
      if (!SAFE_ADDRESS.test(href)) return shown;
      return `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${shown}</a>`;
    },
    checkbox({ checked }: Tokens.Checkbox) {
      return checked ? "☑ " : "☐ ";
    },
    // Headings of an answer are below those of the page.
    heading({ tokens, depth }: Tokens.Heading) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
  },
});

/** The text of a token, as it was written. */
function plainText(token: Pick<Token, "raw"> & { text?: string; escaped?: boolean }): string {
  return token.text ?? token.raw;
}
