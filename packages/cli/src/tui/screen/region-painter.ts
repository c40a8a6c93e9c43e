import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import {
  drawAnew,
  drawChanges,
  eraseRegion,
  type Frame,
  type LiveRegion,
  leaveRegion,
  type WantedFrame,
} from "./frame.ts";
import type { FrameClock } from "./frame-clock.ts";
import { LiveLines } from "./live-lines.ts";
import { topFromCursor } from "./region-top.ts";
import { countRowsAbove } from "./rows-above.ts";
import { type ScreenLine, toScreenLine } from "./screen-line.ts";
import type { PlaceReply, TerminalReplies } from "./terminal-replies.ts";

/** What a terminal has to be for it. */
export type PaintedTerminal = Pick<Terminal, "columns" | "rows" | "write">;

/**
 * Knows what stands in the terminal's last rows, and writes what turns it into what is to stand there, with the finished
 * lines above it.
 */
export class RegionPainter {
  private readonly liveLines = new LiveLines();
  private finished: string[] = [];
  private region: LiveRegion | undefined;
  private isStale = false;
  /** Finished lines were on their way when the size changed, and may stand in rows that do not count as finished. */
  private isMisplaced = false;

  constructor(
    private readonly terminal: PaintedTerminal,
    private readonly replies: TerminalReplies,
    private readonly clock: FrameClock,
  ) {}

  /** A live region stands in the terminal. */
  get isDrawn(): boolean {
    return this.region !== undefined;
  }

  /** Queues finished lines for the next frame. */
  queue(lines: readonly string[]): void {
    for (const line of lines) this.finished.push(line);
  }

  /** Draws a frame: what is queued, and below it the last of these lines that the terminal has room for. */
  draw(lines: readonly string[]): void {
    const { columns: width, rows: height } = this.terminal;
    const live = this.liveLines.read(lines, { width, height });
    this.drawFrame({ finished: this.takeFinished(), live, width, height });
  }

  /** The next frame draws the whole live region. */
  markStale(): void {
    this.isStale = true;
  }

  /** To be called when the size has changed, before the clock is told. */
  noteResize(): void {
    const isFirst = this.clock.isRunning && this.clock.resizeCount === 0;
    if (isFirst) this.isMisplaced ||= this.replies.isBehind;
  }

  notePlace({ region, cursorRow }: PlaceReply): void {
    const { row, lines, height, top } = region;
    // Elsewhere than expected: the size changed before the frame was read, although we have not been told yet.
    if (top.least === top.most && cursorRow !== top.least + row) this.isMisplaced = true;
    if (region !== this.region || this.clock.isSettling) return;
    this.region = { ...region, top: topFromCursor(cursorRow, { row, rows: lines.length, height }) ?? top };
  }

  /** Writes what is still queued, leaves the region as it is and puts the cursor below it, or with `isErased` takes it away. */
  leave({ isErased }: { isErased: boolean }): void {
    const { columns: width, rows: height } = this.terminal;
    const region = this.region;
    const isOutdated = this.isStale || region?.width !== width || region.height !== height;
    if (this.finished.length > 0 || (region !== undefined && isOutdated)) {
      const live = (region?.lines ?? []).slice(-height).map(({ text }) => toScreenLine(text, width));
      this.drawFrame({ finished: this.takeFinished(), live, width, height });
    }
    if (this.region !== undefined)
      this.terminal.write(isErased ? eraseRegion(this.region) : leaveRegion(this.region));
    this.forget();
  }

  /** The cursor is no longer where it was left: the next frame begins a new region. */
  forget(): void {
    this.region = undefined;
  }

  private drawFrame(wanted: WantedFrame): void {
    const { output, region } = this.plan(wanted);
    const hasFinished = wanted.finished.length > 0;
    if (output !== "" || hasFinished || this.region === undefined) this.region = region;
    this.isStale = false;
    this.isMisplaced = false;
    this.clock.noteFrame();
    const question = this.clock.isRunning ? this.replies.askForPlace(this.region, hasFinished) : "";
    if (output + question !== "") this.terminal.write(output + question);
  }

  private plan(wanted: WantedFrame): Frame {
    const { region } = this;
    if (region === undefined) return drawAnew(wanted, { rowsUp: undefined, isCursorShown: false });
    const isSameSize = region.width === wanted.width && region.height === wanted.height;
    if (isSameSize && !this.isStale) return drawChanges(region, wanted);
    const isOneStep = this.clock.resizeCount <= 1;
    const resize = { ...wanted, rewrap: this.replies.rewrap, isOneStep };
    const rowsUp = this.isMisplaced ? 0 : countRowsAbove(region, resize);
    return drawAnew(wanted, { rowsUp, isCursorShown: region.isCursorShown });
  }

  private takeFinished(): ScreenLine[] {
    const finished = this.finished.map((line) => toScreenLine(line));
    this.finished = [];
    return finished;
  }
}
