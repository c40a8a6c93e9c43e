import { assertNever } from "@diligent/core/run";
import type { MarkedToken, Token } from "marked";
import { wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import { layoutCode } from "./layout-code.ts";
import { layoutList } from "./layout-list.ts";
import { layoutTable } from "./layout-table.ts";
import { indentedBy, MAX_TEXT_COLUMNS, type MarkdownLayout } from "./markdown-layout.ts";
import { DEFINITION, toMarkedToken } from "./markdown-syntax.ts";

/** The lines of some blocks, with an empty one between each two unless they are to be `tight`. */
export function layoutBlocks(
  tokens: readonly Token[],
  layout: MarkdownLayout,
  spacing: "loose" | "tight" = "loose",
): string[] {
  const blocks = tokens.map((token) => layoutBlock(token, layout)).filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, index) => (index > 0 && spacing === "loose" ? ["", ...lines] : lines));
}

function layoutBlock(token: Token, layout: MarkdownLayout): string[] {
  const known = toMarkedToken(token);
  if (known) return layoutKnown(known, layout);
  return token.type === DEFINITION ? layoutDefinitions(token.raw, layout) : wrapText(token.raw, layout.width);
}

function layoutKnown(token: MarkedToken, layout: MarkdownLayout): string[] {
  switch (token.type) {
    case "heading":
      return layoutHeading(token, layout);
    case "code":
      return layoutCode(token, layout);
    case "list":
      return layoutList(token, layout);
    case "table":
      return layoutTable(token, layout);
    case "blockquote":
      return layoutQuote(token.tokens, layout);
    case "hr":
      return [layout.theme.dim("─".repeat(Math.min(layout.width, MAX_TEXT_COLUMNS)))];
    case "html":
      return layoutHtml(token.text, layout);
    case "space":
    case "def":
      return [];
    case "list_item":
      return layoutBlocks(token.tokens, layout);
    case "paragraph":
    case "text":
      return layoutText(token.tokens ?? [token], layout);
    case "br":
    case "checkbox":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "strong":
      return layoutText([token], layout);
    default:
      return assertNever(token);
  }
}

function layoutText(tokens: readonly Token[], { width, renderInline }: MarkdownLayout): string[] {
  const text = renderInline(tokens).trim();
  return text === "" ? [] : wrapText(text, Math.min(width, MAX_TEXT_COLUMNS));
}

function layoutHeading(
  { tokens, depth }: { tokens: readonly Token[]; depth: number },
  layout: MarkdownLayout,
): string[] {
  const { theme } = layout;
  const lines = layoutText(tokens, layout);
  if (theme.isColored) return lines.map(depth === 1 ? theme.title : theme.heading);
  // Nothing else would tell it from a sentence.
  return wrapText(`${"#".repeat(depth)} ${lines.join(" ")}`, layout.width);
}

function layoutHtml(text: string, { width, theme }: MarkdownLayout): string[] {
  const lines = expandTabs(text.trimEnd()).split("\n");
  return lines.flatMap((line) => wrapIndented(line, width)).map(theme.dim);
}

function layoutQuote(tokens: readonly Token[], layout: MarkdownLayout): string[] {
  const inner = indentedBy(layout, 2);
  if (!inner) return layoutBlocks(tokens, layout);
  const mark = layout.theme.dim("│");
  return layoutBlocks(tokens, inner).map((line) => (line === "" ? mark : `${mark} ${line}`));
}

function layoutDefinitions(raw: string, { width, theme }: MarkdownLayout): string[] {
  return raw
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const [, label = "", target = "", title = ""] = /^\s*(\[.*?\]:)\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
      return wrapText(`${label} ${theme.link(target)} ${title}`.trimEnd().replaceAll("\t", " "), width);
    });
}
