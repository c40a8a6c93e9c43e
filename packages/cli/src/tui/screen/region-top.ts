/** The row of the screen, from 0, that the first row of a region is in: between two numbers, which are equal where it is known. */
export interface RegionTop {
  readonly least: number;
  readonly most: number;
}

/** Asks the terminal where its cursor is. The reply could also be a key, F3, and is only one where it is waited for. */
export const PLACE_QUERY = "\x1b[6n";
const PLACE_REPLY = /^\p{Cc}\[(?<row>\d+);\d+R$/u;

/** The row of the cursor, from 0, in a reply to `PLACE_QUERY`; undefined where the input is none. */
export function readPlace(input: string): number | undefined {
  const row = PLACE_REPLY.exec(input)?.groups?.row;
  return row === undefined ? undefined : Number(row) - 1;
}

/** Where a region of `rows` rows may be, if nothing is known. */
export function anyTop(rows: number, height: number): RegionTop {
  return { least: 0, most: Math.max(0, height - rows) };
}

/** Where a region is after `finished` lines were written above it, and it has got `rows` rows. */
export function moveTop(
  top: RegionTop,
  {
    finished,
    rows,
    height,
    isWrapped,
  }: { finished: number; rows: number; height: number; isWrapped: boolean },
): RegionTop {
  const lowest = Math.max(0, height - rows);
  return {
    least: Math.min(top.least + finished, lowest),
    // Lines that the terminal has wrapped take nobody knows how many rows.
    most: isWrapped ? lowest : Math.min(top.most + finished, lowest),
  };
}

/** Where a region of `rows` rows is whose row `row` has the cursor, which is in `cursorRow` of the screen; undefined where it cannot be. */
export function topFromCursor(
  cursorRow: number,
  { row, rows, height }: { row: number; rows: number; height: number },
): RegionTop | undefined {
  const top = cursorRow - row;
  return top >= 0 && top + rows <= height ? { least: top, most: top } : undefined;
}
