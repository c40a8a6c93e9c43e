/** A place in the region that is redrawn, from 0; the first line of the region is row 0, wherever it is on the screen. */
export interface RegionPlace {
  row: number;
  /** Undefined where terminals differ. */
  column: number | undefined;
}

/** Gathers what is written, and knows where the cursor is after it. Moves are relative: nobody knows our first row. */
export class CursorWriter {
  private output = "";

  /** Begins with the cursor at `place`, in a terminal of `width` columns. */
  constructor(
    private place: RegionPlace,
    private readonly width: number,
  ) {}

  get row(): number {
    return this.place.row;
  }

  get column(): number | undefined {
    return this.place.column;
  }

  /** Everything gathered. */
  get written(): string {
    return this.output;
  }

  /** Writes something that leaves the cursor where it is, or at least does not leave it further down. */
  control(sequence: string): void {
    this.output += sequence;
  }

  /** Writes something behind which the cursor is in this column of its row; at the right edge terminals differ in that. */
  write(text: string, columnAfter: number | undefined): void {
    this.output += text;
    const isInside = columnAfter !== undefined && columnAfter < this.width;
    this.place = { row: this.place.row, column: isInside ? columnAfter : undefined };
  }

  /** Goes to the beginning of the next row, as `moveToRow` does downwards. */
  startNextRow(): void {
    this.output += "\r\n";
    this.place = { row: this.place.row + 1, column: 0 };
  }

  moveTo(row: number, column: number): void {
    this.moveToRow(row);
    if (column !== this.place.column) this.output += column === 0 ? "\r" : `\x1b[${column + 1}G`;
    this.place = { row, column };
  }

  /**
   * Downwards by line feeds, which scroll at the end of the screen where a sequence would stop. When the terminal has got
   * smaller before it reads this, the cursor must not end up above where it is thought to be: from there the next frame
   * would erase finished lines.
   */
  moveToRow(row: number): void {
    const down = row - this.place.row;
    if (down === 0) return;
    if (down > 0) this.output += `\r${"\n".repeat(down)}`;
    else this.output += `\x1b[${down < -1 ? -down : ""}A`;
    this.place = { row, column: down > 0 ? 0 : this.place.column };
  }
}
