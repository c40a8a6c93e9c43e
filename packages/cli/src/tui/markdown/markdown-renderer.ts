import type { Token, Tokens } from "marked";
import type { Theme } from "../theme.ts";
import { decodeReferences } from "./decode-references.ts";
import { createHighlight, highlightTheme } from "./highlight-code.ts";
import { layoutBlocks } from "./layout-blocks.ts";
import type { MarkdownLibraries } from "./load-markdown.ts";
import type { MarkdownLayout } from "./markdown-layout.ts";

/** Safe Markdown as lines. @throws Error for what marked cannot read. */
export type RenderSafeMarkdown = (markdown: string, width: number) => string[];

/**
 * Sentences and the highlighting of code are marked-terminal's. The blocks are laid out here: it knows neither widths of
 * characters nor what is left of a line in a list.
 */
export function createMarkdownRenderer(
  { Marked, Parser, markedTerminal, syntax }: MarkdownLibraries,
  theme: Theme,
): RenderSafeMarkdown {
  const plain = (text: string) => text;
  const terminal = markedTerminal(
    {
      tab: 0,
      emoji: false,
      unescape: false,
      code: plain,
      strong: theme.bold,
      em: theme.italic,
      del: theme.strikethrough,
    },
    { ignoreIllegals: true, theme: highlightTheme(theme) },
  );
  const { defaults } = new Marked(terminal, { renderer: createInlineOverrides(theme) });
  const parser = new Parser<string, string>(defaults);
  const highlight = createHighlight((text, lang) =>
    theme.isColored ? parser.parse([{ type: "code", raw: "", lang, text }]).slice(0, -"\n\n".length) : text,
  );
  const renderInline: MarkdownLayout["renderInline"] = (tokens) => parser.parseInline([...tokens]);
  return (markdown, width) => layoutBlocks(syntax.read(markdown), { width, theme, renderInline, highlight });
}

/** In place of what marked-terminal does to links, entities, colons, line ends and nested text. */
function createInlineOverrides(theme: Theme) {
  return {
    text(
      this: { parser: { parseInline(tokens: Token[]): string } },
      token: Tokens.Text | Tokens.Escape,
    ): string {
      if (token.type === "escape") return token.text;
      return token.tokens ? this.parser.parseInline(token.tokens) : toOneLine(decodeReferences(token.raw));
    },
    codespan({ text }: Tokens.Codespan): string {
      return theme.isColored ? theme.code(toOneLine(text)) : `\`${toOneLine(text)}\``;
    },
    link(this: { parser: { parseInline(tokens: Token[]): string } }, token: Tokens.Link): string {
      return renderLink(token, this.parser.parseInline(token.tokens), theme);
    },
    image({ text, href }: Tokens.Image): string {
      return `[image${text === "" ? "" : `: ${toOneLine(decodeReferences(text))}`}] (${theme.link(toTarget(href))})`;
    },
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return /^<br\s*\/?>$/i.test(text) ? "\n" : theme.dim(toOneLine(text));
    },
    br: () => "\n",
    checkbox: () => "",
  };
}

/** A link whose text does not say where it leads gets its target behind it. */
function renderLink({ href, autolink }: Tokens.Link, text: string, theme: Theme): string {
  const target = autolink ? toOneLine(href).replace(/^mailto:/, "") : toTarget(href);
  const shown = Bun.stripANSI(text);
  if (shown.trim() === "" || target === shown || target === `http://${shown}`) return theme.link(target);
  return `${theme.link(text)} (${theme.dim(target)})`;
}

function toTarget(href: string): string {
  return toOneLine(decodeReferences(href));
}

function toOneLine(text: string): string {
  return text.replace(/[ \t]*\n[ \t]*/g, " ").replaceAll("\t", " ");
}
