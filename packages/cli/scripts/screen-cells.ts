import type { IBufferCell, IBufferLine, Terminal } from "@xterm/headless";

/** Colours are numbers of the terminal's sixteen; undefined for the default foreground or background. */
export interface Look {
  foreground?: number;
  background?: number;
  isInverse?: true;
  isBold?: true;
  isDim?: true;
  isItalic?: true;
  isUnderlined?: true;
  isStruck?: true;
}

/** A character on a screen, one or two columns wide. */
export interface Cell {
  text: string;
  columns: number;
  look: Look;
}

/** All rows of a terminal, starting with those above its screen, without empty ones at the end. */
export function readCells({ buffer: { active } }: Terminal): Cell[][] {
  const rows = Array.from({ length: active.length }, (_, row) => readLine(active.getLine(row)));
  return rows.slice(0, rows.findLastIndex((row) => textOf(row).trim() !== "") + 1);
}

function readLine(line: IBufferLine | undefined): Cell[] {
  const cells: Cell[] = [];
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    // The second column of a wide character is empty.
    const columns = cell?.getWidth() ?? 0;
    if (cell && columns > 0) cells.push({ text: cell.getChars() || " ", columns, look: readLook(cell) });
  }
  return cells;
}

function readLook(cell: IBufferCell): Look {
  return {
    ...(!cell.isFgDefault() && { foreground: cell.getFgColor() }),
    ...(!cell.isBgDefault() && { background: cell.getBgColor() }),
    ...(cell.isInverse() && { isInverse: true }),
    ...(cell.isBold() && { isBold: true }),
    ...(cell.isDim() && { isDim: true }),
    ...(cell.isItalic() && { isItalic: true }),
    ...(cell.isUnderline() && { isUnderlined: true }),
    ...(cell.isStrikethrough() && { isStruck: true }),
  };
}

export function textOf(row: readonly Cell[]): string {
  return row.map(({ text }) => text).join("");
}

/** The row with each match replaced by `replacement`, in the style at the start of the match. */
export function replaceText(row: readonly Cell[], pattern: RegExp, replacement: string): Cell[] {
  // Offsets in the text are those of cells only if each cell is one character.
  if (row.some(({ text }) => text.length !== 1)) return [...row];
  const cells: Cell[] = [];
  let end = 0;
  for (const { 0: match, index } of textOf(row).matchAll(pattern)) {
    const look = row[index]?.look ?? {};
    cells.push(...row.slice(end, index), ...[...replacement].map((text) => ({ text, columns: 1, look })));
    end = index + match.length;
  }
  return [...cells, ...row.slice(end)];
}
