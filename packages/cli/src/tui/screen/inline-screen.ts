import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import { setCapabilityOverrides } from "@earendil-works/pi-tui/dist/terminal-image.js";
import type { TuiStopOptions } from "@earendil-works/pi-tui/dist/tui.js";
import { TuiMainScreen } from "@earendil-works/pi-tui/dist/tui-main-screen.js";
import {
  drawAnew,
  drawChanges,
  eraseRegion,
  type Frame,
  type LiveRegion,
  leaveRegion,
  type WantedFrame,
} from "./frame.ts";
import { FrameClock } from "./frame-clock.ts";
import { LiveLines } from "./live-lines.ts";
import { topFromCursor } from "./region-top.ts";
import { countRowsAbove } from "./rows-above.ts";
import { type ScreenLine, toScreenLine } from "./screen-line.ts";
import { TerminalReplies } from "./terminal-replies.ts";
import { WatchedTerminal } from "./watched-terminal.ts";

export interface InlineScreenOptions {
  /** `TERM` and `TERM_PROGRAM` say how the terminal treats its rows when its width changes. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Called before each frame: tells the terminal's listener when the size has changed. */
  readSize?: (() => void) | undefined;
}

/**
 * A screen that shares the terminal with the shell, whose scrollback is the transcript: finished lines are written once,
 * and below them the children render the live region, which alone is ever redrawn. Nothing that was on the screen before
 * us is touched, and nothing is ever cleared but the rows of the live region.
 *
 * Overlays of pi-tui are not drawn: a dialog takes the place of another child. Images are not drawn either.
 *
 * Limits. When the terminal gets smaller and the live region, wrapped by the terminal, does not fit into it any more, its first
 * rows stay in the scrollback as a remainder; so does the whole of it where the terminal may have changed its size before it
 * read the last finished lines. Where it is not known what the terminal does with its rows (see `Rewrap`), as little as
 * possible is taken for ours, so that a remainder stays rather than that a finished line is lost. A terminal that answers no
 * question cannot tell that it is behind; there a change of the size while finished lines are on their way may cost some.
 */
export class InlineScreen extends TuiMainScreen {
  // Private to the language and not only to the compiler: the class above may have fields of its own by such names.
  readonly #replies: TerminalReplies;
  readonly #liveLines: LiveLines;
  readonly #clock = new FrameClock();
  readonly #readSize: () => void;
  #finished: string[] = [];
  #region: LiveRegion | undefined;
  #isStale = false;
  /** Finished lines were on their way when the size changed, and may stand in rows that do not count as finished. */
  #isMisplaced = false;
  #isRunning = false;
  #isDrawnForInput = false;
  /** What has just come in is an answer of the terminal's, not a key. */
  #isReply = false;

  constructor(terminal: Terminal, { environment = {}, readSize = () => {} }: InlineScreenOptions = {}) {
    const watched = new WatchedTerminal(terminal, {
      onResize: () => this.#noteResize(),
      afterInput: () => this.#drawForInput(),
    });
    super(watched);
    this.#readSize = readSize;
    this.#replies = new TerminalReplies(watched, environment);
    this.#liveLines = new LiveLines();
    this.addInputListener((data) => this.#readReply(data));
  }

  /** Called before a frame is drawn, for lines that are complete by then. */
  beforeFrame: () => readonly string[] = () => [];

  /** The terminal may still send replies that nobody typed. */
  get isExpectingReply(): boolean {
    return this.#replies.isExpecting;
  }

  /**
   * Queues lines that are complete, to be written above the live region with the next frame, once and for ever; while the
   * screen is stopped, with the first frame after the next start.
   */
  finish(lines: readonly string[]): void {
    for (const line of lines) this.#finished.push(line);
    this.requestRender();
  }

  override start(): void {
    super.start();
    // Forced, because a frame that was under way when the screen was stopped would keep another from being drawn; and not
    // before signals were looked at, one of which brings the size that the terminal got while we were stopped.
    setImmediate(() => this.requestRender(true));
  }

  /** Asks for a frame soon; with `force` for one that draws the whole live region, and at once. */
  override requestRender(force = false): void {
    if (!this.#isRunning) return;
    if (force) super.requestRender(true);
    else this.#clock.request(() => super.requestRender());
  }

  protected override beforeTerminalStart(): void {
    this.#isRunning = true;
    // Asked for by pi-tui otherwise, it would run `tmux` to find out, whichever that is.
    setCapabilityOverrides({ images: null, hyperlinks: false });
  }

  protected override afterTerminalStart(): void {
    this.terminal.write(this.#replies.askForDevice());
  }

  /** Draws a frame before it returns, with `force` the whole live region. */
  override renderNow(force = false): void {
    this.#clock.endSettling();
    super.renderNow(force);
  }

  /** The next frame draws the whole live region. */
  protected override resetRenderState(): void {
    this.#isStale = true;
  }

  protected override doRender(): void {
    if (!this.#isRunning) return;
    this.#readSize();
    if (this.#clock.isSettling) return;
    const { columns: width, rows: height } = this.terminal;
    this.#finished.push(...this.beforeFrame());
    const live = this.#liveLines.read(this.render(width), { width, height });
    this.#draw({ finished: this.#takeFinished(), live, width, height });
  }

  /**
   * Draws no more: writes what is still queued, leaves the live region as it is now and puts the cursor below it; with
   * `isErased` the region goes, and the cursor is where it began. The terminal stays in its modes until `stop`.
   */
  leaveRegion({ isErased = false }: { isErased?: boolean } = {}): void {
    if (!isErased) this.#drawLast();
    this.#stopDrawing();
    const { columns: width, rows: height } = this.terminal;
    const region = this.#region;
    const isOutdated = this.#isStale || region?.width !== width || region.height !== height;
    if (this.#finished.length > 0 || (region !== undefined && isOutdated)) {
      const live = (region?.lines ?? []).slice(-height).map(({ text }) => toScreenLine(text, width));
      this.#draw({ finished: this.#takeFinished(), live, width, height });
    }
    if (this.#region !== undefined)
      this.terminal.write(isErased ? eraseRegion(this.#region) : leaveRegion(this.#region));
    this.#region = undefined;
  }

  /** With `preserveScreen` nothing is written: the cursor is no longer where we left it, and lines stay queued. */
  protected override beforeTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    if (!preserveScreen) this.leaveRegion();
    this.#stopDrawing();
    this.#region = undefined;
  }

  /** What stays in the terminal is not what was going on a frame ago. */
  #drawLast(): void {
    if (!this.#isRunning || this.#region === undefined || this.#clock.isSettling) return;
    try {
      this.doRender();
    } catch {
      // The program may be ending because it cannot draw: then what was drawn last stays.
    }
  }

  #stopDrawing(): void {
    this.#clock.stop();
    this.#isRunning = false;
  }

  #draw(wanted: WantedFrame): void {
    const { output, region } = this.#plan(wanted);
    const hasFinished = wanted.finished.length > 0;
    if (output !== "" || hasFinished || this.#region === undefined) this.#region = region;
    this.#isStale = false;
    this.#isMisplaced = false;
    this.#clock.noteFrame();
    const question = this.#isRunning ? this.#replies.askForPlace(this.#region, hasFinished) : "";
    if (output + question !== "") this.terminal.write(output + question);
  }

  #plan(wanted: WantedFrame): Frame {
    const region = this.#region;
    if (region === undefined) return drawAnew(wanted, { rowsUp: undefined, isCursorShown: false });
    const isSameSize = region.width === wanted.width && region.height === wanted.height;
    if (isSameSize && !this.#isStale) return drawChanges(region, wanted);
    const isOneStep = this.#clock.resizeCount <= 1;
    const resize = { ...wanted, rewrap: this.#replies.rewrap, isOneStep };
    const rowsUp = this.#isMisplaced ? 0 : countRowsAbove(region, resize);
    return drawAnew(wanted, { rowsUp, isCursorShown: region.isCursorShown });
  }

  #takeFinished(): ScreenLine[] {
    const finished = this.#finished.map((line) => toScreenLine(line));
    this.#finished = [];
    return finished;
  }

  #readReply(data: string): { consume: boolean } | undefined {
    const reply = this.#replies.read(data);
    if (reply === undefined) return undefined;
    this.#isReply = true;
    if (reply.kind === "place") this.#notePlace(reply.region, reply.cursorRow);
    // Now that it is known what the terminal is, more may have to be asked.
    else this.requestRender();
    return { consume: true };
  }

  #notePlace(region: LiveRegion, cursorRow: number): void {
    const { row, lines, height, top } = region;
    // Elsewhere than expected: the size changed before the frame was read, although we have not been told yet.
    if (top.least === top.most && cursorRow !== top.least + row) this.#isMisplaced = true;
    if (region !== this.#region || this.#clock.isSettling) return;
    this.#region = { ...region, top: topFromCursor(cursorRow, { row, rows: lines.length, height }) ?? top };
  }

  /** What a key has changed is shown at once, however many keys came together. */
  #drawForInput(): void {
    const isReply = this.#isReply;
    this.#isReply = false;
    if (isReply || this.#isDrawnForInput) return;
    this.#isDrawnForInput = true;
    queueMicrotask(() => {
      this.#isDrawnForInput = false;
      super.renderNow();
    });
  }

  #noteResize(): void {
    if (!this.#isRunning) return;
    if (this.#clock.resizeCount === 0) this.#isMisplaced ||= this.#replies.isBehind;
    this.#clock.noteResize(() => this.renderNow(true));
  }
}
