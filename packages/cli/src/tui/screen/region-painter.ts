import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import {
  drawChanges,
  eraseRegion,
  type Frame,
  type FrameClock,
  leaveRegion,
  redrawRegion,
  type WantedFrame,
} from "./frame.ts";
import { drawCursor, type ScreenLine, toScreenLine } from "./line.ts";
import { countRowsAbove, type DrawnRegion, topFromCursor } from "./region.ts";
import type { LocationReply, TerminalReplies } from "./terminal-replies.ts";

interface LiveRoom {
  width: number;
  height: number;
  /** The cursor of the terminal waits elsewhere, so a cursor is drawn. */
  isParked: boolean;
}

/**
 * Prepares the children's lines for the screen; unchanged lines of the last frame are not processed again.
 */
class LiveLines {
  private known: ReadonlyMap<string, ScreenLine> = new Map();
  private width = 0;

  /** The last lines that fit into `height` rows, each cut to `width` columns. */
  read(raw: readonly string[], { width, height, isParked }: LiveRoom): ScreenLine[] {
    const hidden = raw.length > height ? raw.length - Math.max(1, height - 1) : 0;
    const header = hidden > 0 && height > 1 ? [describeHidden(hidden)] : [];
    const lines = new Map<string, ScreenLine>();
    const known = this.width === width ? this.known : lines;
    const live = [...header, ...raw.slice(hidden)].map((given) => {
      const line = isParked ? drawCursor(given) : given;
      const ready = known.get(line) ?? toScreenLine(line, width);
      lines.set(line, ready);
      return ready;
    });
    this.known = lines;
    this.width = width;
    return live;
  }
}

/** Replaces the first rows if there are more than fit on the screen. */
function describeHidden(rows: number): string {
  return `… ${rows} more ${rows === 1 ? "line" : "lines"} above`;
}

/** What the painter needs to know about a terminal. */
type PaintedTerminal = Pick<Terminal, "columns" | "rows" | "write">;

/**
 * Tracks the terminal's last rows, and writes what turns them into the wanted ones, with the finished lines
 * above.
 */
export class RegionPainter {
  private readonly liveLines = new LiveLines();
  private finished: string[] = [];
  private region: DrawnRegion | undefined;
  private isStale = false;
  /**
   * Finished lines were being written when the size changed, and may be in rows that do not count as
   * finished.
   */
  private isMisplaced = false;

  constructor(
    private readonly terminal: PaintedTerminal,
    private readonly replies: TerminalReplies,
    private readonly clock: FrameClock,
  ) {}

  /** There is a live region in the terminal. */
  get isDrawn(): boolean {
    return this.region !== undefined;
  }

  /** Queues finished lines for the next frame. */
  queue(lines: readonly string[]): void {
    for (const line of lines) this.finished.push(line);
  }

  /**
   * Draws a frame: the queued lines, and below them the last of these lines that fit.
   * @param isMoving further frames follow without a key, so a resize may meet one on its way.
   */
  draw(lines: readonly string[], { isMoving }: { isMoving: boolean }): void {
    const { columns: width, rows: height } = this.terminal;
    const isParked = isMoving && this.replies.rewrap === "rewraps";
    const live = this.liveLines.read(lines, { width, height, isParked });
    this.drawFrame({ finished: this.takeFinished(), live, width, height, isParked });
  }

  /** The next frame draws the whole live region. */
  markStale(): void {
    this.isStale = true;
  }

  /** Moves the cursor to the start of the region, if it is known: foreign text may have moved it. */
  returnToTop(): void {
    const { region } = this;
    if (region === undefined || region.top.min !== region.top.max) return;
    this.terminal.write(`\x1b[${region.top.min + 1};1H`);
    this.region = { ...region, row: 0, column: 0 };
  }

  /** Call it when the size has changed, before the clock is told. */
  noteResize(): void {
    const isFirst = this.clock.isRunning && this.clock.resizeCount === 0;
    if (isFirst) this.isMisplaced ||= this.replies.isBehind;
  }

  noteLocation({ region, cursorRow }: LocationReply): void {
    const { row, lines, height, top } = region;
    // The cursor is not where it was expected: the size changed before the frame was read, although we were
    // not notified yet.
    if (top.min === top.max && cursorRow !== top.min + row) this.isMisplaced = true;
    if (region !== this.region || this.clock.isSettling) return;
    this.region = { ...region, top: topFromCursor(cursorRow, { row, rows: lines.length, height }) ?? top };
  }

  /**
   * Writes queued lines, leaves the region as it is and moves the cursor below it, or erases it with
   * `isErased`.
   */
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

  /** The cursor is no longer where it was: the next frame starts a new region. */
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
    const question = this.clock.isRunning ? this.replies.askForLocation(this.region, hasFinished) : "";
    if (output + question !== "") this.terminal.write(output + question);
  }

  private plan(wanted: WantedFrame): Frame {
    const { region } = this;
    if (region === undefined) return redrawRegion(wanted, { rowsUp: undefined, isCursorShown: false });
    const isSameSize = region.width === wanted.width && region.height === wanted.height;
    if (isSameSize && !this.isStale) return drawChanges(region, wanted);
    const isOneStep = this.clock.resizeCount <= 1;
    const resize = { ...wanted, rewrap: this.replies.rewrap, isOneStep };
    const rowsUp = this.isMisplaced ? 0 : countRowsAbove(region, resize);
    return redrawRegion(wanted, { rowsUp, isCursorShown: region.isCursorShown });
  }

  private takeFinished(): ScreenLine[] {
    const finished = this.finished.map((line) => toScreenLine(line));
    this.finished = [];
    return finished;
  }
}
