import { assertNever } from "@diligent/core/run";
import type { MarkedToken, Token, Tokens } from "marked";
import { sanitizeTerminalText } from "../../text/terminal-text.ts";
import { padLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import { expandTabs, wrapIndented } from "../text.ts";
import type { Theme } from "../theme.ts";
import { DEFINITION, isClosedFence, toMarkedToken } from "./syntax.ts";

/** The lines of some blocks, separated by empty lines unless they are `tight`. */
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
  // Otherwise it would look like a sentence.
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

const INDENT = "  ";

/** Code, indented and highlighted; lines that are too long continue below. */
function layoutCode(token: Tokens.Code, layout: MarkdownLayout): string[] {
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

/** A list, its items marked and indented; numbers count up from the first, as in Markdown. */
function layoutList(list: Tokens.List, layout: MarkdownLayout): string[] {
  const markers = list.items.map((_, index) => (list.ordered ? `${Number(list.start) + index}. ` : "- "));
  const columns = Math.max(...markers.map(({ length }) => length));
  return list.items.flatMap((item, index) => {
    // Only numbers are aligned: a checkbox belongs to its own item, and earlier items may already be on the
    // screen.
    const marker = (markers[index] ?? "").padStart(columns) + boxOf(item);
    const lines = layoutItem(item, layout, { marker, isLoose: list.loose });
    return index > 0 && list.loose ? ["", ...lines] : lines;
  });
}

function boxOf({ task, checked }: Tokens.ListItem): string {
  return task ? `[${checked ? "x" : " "}] ` : "";
}

function layoutItem(
  { tokens }: Tokens.ListItem,
  layout: MarkdownLayout,
  { marker, isLoose }: { marker: string; isLoose: boolean },
): string[] {
  const content = tokens.filter(({ type }) => type !== "checkbox");
  const inner = indentedBy(layout, marker.length);
  const lines = layoutContent(content, inner ?? layout, isLoose);
  const shownMarker = marker.trimEnd();
  if (!inner) return [shownMarker, ...lines];
  const indent = " ".repeat(marker.length);
  const [first = "", ...others] = lines;
  // The marker's leading spaces are kept, trailing ones only if text follows.
  const head = first === "" ? shownMarker : shownMarker + marker.slice(marker.trimEnd().length) + first;
  return [head, ...others.map((line) => (line === "" ? "" : indent + line))];
}

function layoutContent(tokens: readonly Token[], layout: MarkdownLayout, isLoose: boolean): string[] {
  return layoutBlocks(tokens, layout, isLoose ? "loose" : "tight");
}

const SEPARATOR = " │ ";
const CROSSING = "─┼─";
// Narrower columns break every word.
const MIN_COLUMN_WIDTH = 6;

type Align = Tokens.TableCell["align"];

/**
 * A table. If it does not fit, its widest columns are narrowed and their cells wrapped; if that is
 * unreadable, it becomes a list of its rows.
 */
function layoutTable(table: Tokens.Table, layout: MarkdownLayout): string[] {
  const { theme, renderInline } = layout;
  const toCells = (cells: readonly Tokens.TableCell[]) =>
    cells.map(({ tokens }) => renderInline(tokens).trim());
  const header = toCells(table.header);
  const rows = table.rows.map(toCells);
  const room = layout.width - SEPARATOR.length * (header.length - 1);
  const widths = fitWidths([header, ...rows], room);
  if (!widths) return layoutRecords(header, rows, layout);
  const columns = widths.map((width, index) => ({ width, align: table.align[index] ?? null }));
  const separator = theme.dim(SEPARATOR);
  const rule = theme.dim(widths.map((width) => "─".repeat(width)).join(CROSSING));
  const shown = rows.map((cells) => layoutRow(cells, columns, separator));
  const isRuled = shown.some(({ length }) => length > 1);
  return [
    ...layoutRow(header.map(theme.bold), columns, separator),
    rule,
    ...shown.flatMap((lines, index) => (isRuled && index > 0 ? [rule, ...lines] : lines)),
  ];
}

/**
 * The column widths, with the widest made equal until they fit; undefined if they would become too narrow.
 */
function fitWidths(rows: readonly (readonly string[])[], room: number): number[] | undefined {
  const natural = (rows[0] ?? []).map((_, column) =>
    Math.max(1, ...rows.map((cells) => cellWidth(cells[column] ?? ""))),
  );
  let rest = room;
  let left = natural.length;
  const widths = [...natural];
  for (const index of [...natural.keys()].sort((a, b) => (natural[a] ?? 0) - (natural[b] ?? 0))) {
    const width = Math.min(natural[index] ?? 0, Math.floor(rest / left));
    if (width < Math.min(natural[index] ?? 0, MIN_COLUMN_WIDTH)) return undefined;
    widths[index] = width;
    rest -= width;
    left -= 1;
  }
  return widths;
}

function cellWidth(cell: string): number {
  return Math.max(...cell.split("\n").map(visibleWidth));
}

function layoutRow(
  cells: readonly string[],
  columns: readonly { width: number; align: Align }[],
  separator: string,
): string[] {
  const wrapped = columns.map(({ width }, index) => wrapText(cells[index] ?? "", width));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map(({ width, align }, index) => alignCell(wrapped[index]?.[line] ?? "", width, align))
      .join(separator)
      .trimEnd(),
  );
}

function alignCell(text: string, width: number, align: Align): string {
  const room = Math.max(0, width - visibleWidth(text));
  if (align === "right") return " ".repeat(room) + text;
  if (align === "center") return padLine(" ".repeat(Math.floor(room / 2)) + text, width);
  return text + " ".repeat(room);
}

/** Each row as lines of `heading: cell`. */
function layoutRecords(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  layout: MarkdownLayout,
): string[] {
  const inner = indentedBy(layout, 2) ?? layout;
  const indent = " ".repeat(layout.width - inner.width);
  const toLines = (label: string, cell: string) => {
    const [first = "", ...others] = wrapText(`${layout.theme.bold(label)}: ${cell}`, inner.width);
    return [first, ...others.map((line) => indent + line)];
  };
  return rows.flatMap((cells, row) => {
    const lines = header.flatMap((label, column) => toLines(label, cells[column] ?? ""));
    return row > 0 ? ["", ...lines] : lines;
  });
}

/** What is needed to lay out a piece of Markdown. */
export interface MarkdownLayout {
  /** The available columns. */
  width: number;
  theme: Theme;
  /** A sentence with its styles, on one line except for line breaks such as `<br>`. */
  renderInline(tokens: readonly Token[]): string;
  highlight: Highlight;
}

// Running text in longer lines is hard to read.
const MAX_TEXT_COLUMNS = 120;

// Nothing is indented below this width.
const MIN_COLUMNS = 10;

/**
 * The columns left after an indentation of `columns`; undefined if text there would be too narrow to read.
 */
function indentedBy(layout: MarkdownLayout, columns: number): MarkdownLayout | undefined {
  const width = layout.width - columns;
  return width < MIN_COLUMNS ? undefined : { ...layout, width };
}

// Nobody reads fifty nested lists, and the time to parse them grows with the square of their number.
const MARKERS = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){50}/m;
const INDENTATION = /^(?:[ ]{100}|\t{25})[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/m;

/** True for Markdown with lists or quotes nested so deeply that its source is shown instead. */
export function isDeeplyNested(markdown: string): boolean {
  return MARKERS.test(markdown) || INDENTATION.test(markdown);
}

/** The character references that people and models write in Markdown; others are shown as they are. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    apos: "'",
    bull: "•",
    cent: "¢",
    copy: "©",
    darr: "↓",
    deg: "°",
    divide: "÷",
    euro: "€",
    ge: "≥",
    gt: ">",
    harr: "↔",
    hellip: "…",
    infin: "∞",
    laquo: "«",
    larr: "←",
    ldquo: "“",
    le: "≤",
    lsquo: "‘",
    lt: "<",
    mdash: "—",
    middot: "·",
    nbsp: "\u00a0",
    ndash: "–",
    ne: "≠",
    para: "¶",
    plusmn: "±",
    pound: "£",
    quot: '"',
    raquo: "»",
    rarr: "→",
    rdquo: "”",
    reg: "®",
    rsquo: "’",
    sect: "§",
    times: "×",
    trade: "™",
    uarr: "↑",
  }),
);

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,6}));/g;
const REPLACEMENT = "\ufffd";

/**
 * Replaces character references (`&lt;`, `&#60;`) in a text. Their replacements are made safe like any other
 * text.
 */
export function decodeReferences(text: string): string {
  if (!text.includes("&")) return text;
  const decoded = text.replace(
    REFERENCE,
    (reference, decimal: string | undefined, hexadecimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return NAMED.get(name) ?? reference;
      return fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal));
    },
  );
  return sanitizeTerminalText(decoded);
}

function fromCodePoint(codePoint: number): string {
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
  return isCharacter ? String.fromCodePoint(codePoint) : REPLACEMENT;
}

/** The code is still open: more may follow. */
interface CodeBlock {
  code: string;
  /** The text after the fence. */
  info: string;
  isOpen: boolean;
}

/** Code highlighted for its language, or unchanged. */
export type Highlight = (block: CodeBlock) => string;
