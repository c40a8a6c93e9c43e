import { type MoveProgress, now } from "@diligent/core/light";
import type { CliOutput } from "../io/io.ts";
import { describeMoveProgress, type FileMove } from "./describe.ts";

const LINE_MS = 2_000;
const REDRAW_MS = 200;

// Used if the terminal's width is unknown.
const USUAL_COLUMNS = 80;

/**
 * Reports the progress of a slow operation, each time on a separate line, since the output may be a file.
 * @param clock milliseconds.
 */
export function createProgressLines(
  move: FileMove,
  write: (line: string) => void,
  clock: () => number = now,
): (progress: MoveProgress) => void {
  let saidAt = clock();
  return (progress) => {
    if (clock() - saidAt < LINE_MS) return;
    saidAt = clock();
    write(describeMoveProgress(move, progress));
  };
}

/** The same, redrawn on one line of a terminal. */
export class ProgressLine {
  private readonly begunAt: number;
  private shownAt: number;
  private width = 0;

  /** @param clock milliseconds. */
  constructor(
    private readonly move: FileMove,
    private readonly output: Pick<CliOutput, "write" | "columns">,
    private readonly clock: () => number = now,
  ) {
    this.begunAt = clock();
    this.shownAt = this.begunAt;
  }

  readonly show = (progress: MoveProgress): void => {
    const at = this.clock();
    if (at - this.shownAt < REDRAW_MS) return;
    this.shownAt = at;
    const seconds = Math.floor((at - this.begunAt) / 1_000);
    const stop = progress.doing === "rollBack" ? "" : " · Ctrl+C to stop";
    this.draw(`${describeMoveProgress(this.move, progress)} (${seconds} s${stop})`);
  };

  /** Leaves an empty line; call it before writing anything else. */
  clear(): void {
    if (this.width === 0) return;
    this.draw("");
    this.output.write("\r");
  }

  /** A wrapped line could not be overwritten. */
  private draw(text: string): void {
    const line = text.slice(0, Math.max(0, (this.output.columns ?? USUAL_COLUMNS) - 1));
    this.output.write(`\r${line.padEnd(this.width)}`);
    this.width = line.length;
  }
}
