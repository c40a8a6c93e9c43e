import { visibleWidth, wrapText } from "../screen/screen-text.ts";

const GAP = "  ";
// A column that is narrower than this stands below its row instead.
const MIN_LAST_COLUMNS = 20;
const BELOW = "      ";

/** How the columns of a table are laid out. */
export interface RowOptions {
  /** The columns, from 0, that are aligned at their right ends. */
  right?: readonly number[];
  /** Of the screen: what does not fit of the last column goes on below itself. */
  columns?: number;
}

/** Rows of texts as lines with aligned columns. */
export function formatRows(
  rows: readonly (readonly string[])[],
  { right = [], columns = Number.POSITIVE_INFINITY }: RowOptions = {},
): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => visibleWidth(row[column] ?? ""))),
  );
  const lines = rows.flatMap((row) => {
    const cells = row.map((cell, column) => {
      const spaces = " ".repeat(Math.max(0, (widths[column] ?? 0) - visibleWidth(cell)));
      return right.includes(column) ? spaces + cell : cell + spaces;
    });
    const line = (GAP + cells.join(GAP)).trimEnd();
    return visibleWidth(line) <= columns ? [line] : wrapLast(cells, columns);
  });
  return lines.join("\n");
}

function wrapLast(cells: readonly string[], columns: number): string[] {
  const before = GAP + cells.slice(0, -1).join(GAP);
  const last = cells.at(-1)?.trimEnd() ?? "";
  const indent = visibleWidth(before) + GAP.length;
  if (columns - indent >= MIN_LAST_COLUMNS) {
    const wrapped = wrapText(last, columns - indent);
    return wrapped.map((text, index) => (index === 0 ? before + GAP : " ".repeat(indent)) + text);
  }
  const wrapped = wrapText(last, Math.max(1, columns - BELOW.length));
  return [before.trimEnd(), ...wrapped.map((text) => BELOW + text)];
}

/** How many columns the lines take. */
export function widthOf(lines: string): number {
  return Math.max(0, ...lines.split("\n").map(visibleWidth));
}

/** `12345` as `12,345`. */
export function formatNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
