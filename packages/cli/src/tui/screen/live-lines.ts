import { type ScreenLine, toScreenLine } from "./screen-line.ts";

/** Makes what the children render ready for the screen; lines that were there in the last frame are not looked at again. */
export class LiveLines {
  private known: ReadonlyMap<string, ScreenLine> = new Map();
  private width = 0;

  /** The last lines that fit into `height` rows, each cut to `width` columns. */
  read(raw: readonly string[], { width, height }: { width: number; height: number }): ScreenLine[] {
    const hidden = raw.length > height ? raw.length - Math.max(1, height - 1) : 0;
    const header = hidden > 0 && height > 1 ? [describeHidden(hidden)] : [];
    const lines = new Map<string, ScreenLine>();
    const known = this.width === width ? this.known : lines;
    const live = [...header, ...raw.slice(hidden)].map((line) => {
      const ready = known.get(line) ?? toScreenLine(line, width);
      lines.set(line, ready);
      return ready;
    });
    this.known = lines;
    this.width = width;
    return live;
  }
}

/** The line that stands for the first rows, where there are more than the screen has. */
function describeHidden(rows: number): string {
  return `… ${rows} more ${rows === 1 ? "line" : "lines"} above`;
}
