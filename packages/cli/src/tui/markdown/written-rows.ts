/**
 * What is shown in some rows whatever their width, so that a place in a text is found again in other rows: neither blanks
 * nor the lines of quotes and tables.
 */
export function shownText(rows: readonly string[]): string {
  return Bun.stripANSI(rows.join("")).replace(/[\s\u2500-\u257f…]+/gu, "");
}

/** The index of the first row that holds anything behind so many characters of `shownText`; their count where none does. */
export function findRowBehind(rows: readonly string[], written: number): number {
  let left = written;
  for (const [at, row] of rows.entries()) {
    if (left <= 0) return at;
    left -= shownText([row]).length;
    if (left < 0) return at;
  }
  return rows.length;
}
