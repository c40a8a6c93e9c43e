import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import { setCapabilityOverrides } from "@earendil-works/pi-tui/dist/terminal-image.js";
import type { TuiStopOptions } from "@earendil-works/pi-tui/dist/tui.js";
import { TuiMainScreen } from "@earendil-works/pi-tui/dist/tui-main-screen.js";
import { FrameClock } from "./frame.ts";
import { RegionPainter } from "./region-painter.ts";
import { TerminalReplies, type TerminalReply, WatchedTerminal } from "./terminal.ts";

/** What the screen has to know of the place it is in. */
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
 * rows stay in the scrollback as a remainder (in tmux also where empty rows below it would have made room); so does the whole
 * of it where the terminal may have changed its size before it read the last finished lines. Where it is not known what the terminal does with its rows (see `Rewrap`), as little as
 * possible is taken for ours, so that a remainder stays rather than that a finished line is lost. A terminal that answers no
 * question cannot tell that it is behind; there a change of the size while finished lines are on their way may cost some.
 */
export class InlineScreen extends TuiMainScreen {
  // Private to the language and not only to the compiler: the class above may have fields of its own by such names.
  readonly #replies: TerminalReplies;
  readonly #clock = new FrameClock();
  readonly #painter: RegionPainter;
  readonly #input: ScreenInput;
  readonly #readSize: () => void;

  constructor(terminal: Terminal, { environment = {}, readSize = () => {} }: InlineScreenOptions = {}) {
    const watched = new WatchedTerminal(terminal, {
      onResize: () => {
        this.#painter.noteResize();
        this.#clock.noteResize(() => this.renderNow(true), this.#replies.settling);
      },
      afterInput: () => this.#input.noteEnd(),
    });
    super(watched);
    this.#readSize = readSize;
    this.#replies = new TerminalReplies(watched, environment);
    this.#painter = new RegionPainter(watched, this.#replies, this.#clock);
    this.#input = new ScreenInput(this.#replies, {
      onReply: (reply) => {
        if (reply.kind === "place") this.#painter.noteLocation(reply);
        // Now that it is known what the terminal is, more may have to be asked.
        else this.requestRender();
      },
      onKeys: () => super.renderNow(),
    });
    this.addInputListener((data) => this.#input.read(data));
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
    this.#painter.queue(lines);
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
    if (!this.#clock.isRunning) return;
    if (force) super.requestRender(true);
    else this.#clock.request(() => super.requestRender());
  }

  /** Draws the whole live region at once, from where it begins as far as that is known: somebody else may have written over it. */
  redraw(): void {
    if (!this.#clock.isRunning) return;
    this.#painter.returnToTop();
    super.requestRender(true);
  }

  protected override beforeTerminalStart(): void {
    this.#clock.start();
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
    this.#painter.markStale();
  }

  protected override doRender(): void {
    if (!this.#clock.isRunning) return;
    this.#readSize();
    if (this.#clock.isSettling) return;
    this.#painter.queue(this.beforeFrame());
    this.#painter.draw(this.render(this.terminal.columns));
  }

  /**
   * Draws no more: writes what is still queued, leaves the live region as it is now and puts the cursor below it; with
   * `isErased` the region goes, and the cursor is where it began. The terminal stays in its modes until `stop`.
   */
  leaveRegion({ isErased = false }: { isErased?: boolean } = {}): void {
    if (!isErased) this.#drawLast();
    this.#clock.stop();
    this.#painter.leave({ isErased });
  }

  /** With `preserveScreen` nothing is written: the cursor is no longer where we left it, and lines stay queued. */
  protected override beforeTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    if (!preserveScreen) this.leaveRegion();
    this.#clock.stop();
    this.#painter.forget();
  }

  /** What stays in the terminal is not what was going on a frame ago, nor cut to a size that has changed since. */
  #drawLast(): void {
    if (!this.#painter.isDrawn) return;
    this.#clock.endSettling();
    try {
      this.doRender();
    } catch {
      // The program may be ending because it cannot draw: then what was drawn last stays.
    }
  }
}

/** Who is told what has come in. */
interface InputWatcher {
  onReply(reply: TerminalReply): void;
  /** Keys have been dealt with: what they have changed is to be shown. */
  onKeys(): void;
}

/** Tells what a terminal answers from keys. What a key has changed is shown at once, however many keys came together. */
class ScreenInput {
  private isReply = false;
  private areKeysNoted = false;

  constructor(
    private readonly replies: TerminalReplies,
    private readonly watcher: InputWatcher,
  ) {}

  /** An input listener of pi-tui's: takes answers away from whoever reads keys. */
  read(data: string): { consume: boolean } | undefined {
    const reply = this.replies.read(data);
    if (reply === undefined) return undefined;
    this.isReply = true;
    this.watcher.onReply(reply);
    return { consume: true };
  }

  /** To be called when input has been dealt with. */
  noteEnd(): void {
    const { isReply } = this;
    this.isReply = false;
    if (isReply || this.areKeysNoted) return;
    this.areKeysNoted = true;
    queueMicrotask(() => {
      this.areKeysNoted = false;
      this.watcher.onKeys();
    });
  }
}
