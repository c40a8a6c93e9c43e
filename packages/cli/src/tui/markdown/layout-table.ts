import type { Tokens } from "marked";
import { padLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import { indentedBy, type MarkdownLayout } from "./markdown-layout.ts";

const SEPARATOR = " │ ";
const CROSSING = "─┼─";
// Narrower columns break every word.
const MIN_COLUMN_WIDTH = 6;

type Align = Tokens.TableCell["align"];

/** A table, its widest columns narrowed and their cells wrapped where it does not fit; as a list of its rows where that is no use. */
export function layoutTable(table: Tokens.Table, layout: MarkdownLayout): string[] {
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

/** The widths of the columns, the widest made equal until they fit; undefined where they would get too narrow. */
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
