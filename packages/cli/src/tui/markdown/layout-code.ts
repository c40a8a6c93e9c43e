import type { Tokens } from "marked";
import { visibleWidth } from "../screen/screen-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import { indentedBy, type MarkdownLayout } from "./markdown-layout.ts";
import { isClosedFence } from "./markdown-syntax.ts";

const INDENT = "  ";

/** Code, indented, in the looks of its language; lines that are too long go on below. */
export function layoutCode(token: Tokens.Code, layout: MarkdownLayout): string[] {
  const inner = indentedBy(layout, INDENT.length);
  const indent = inner ? INDENT : "";
  const { width, highlight } = inner ?? layout;
  const isOpen = token.codeBlockStyle !== "indented" && !isClosedFence(token);
  const code = expandTabs(token.text.replace(/^(?:[ \t]*\n)+/, "").trimEnd());
  if (code === "") return [];
  return highlight({ code, info: token.lang ?? "", isOpen })
    .split("\n")
    .flatMap((line) => wrapIndented(line, width))
    .map((line) => (visibleWidth(line) === 0 ? "" : indent + line));
}
