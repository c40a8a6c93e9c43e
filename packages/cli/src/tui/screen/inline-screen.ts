import { setCapabilityOverrides } from "@earendil-works/pi-tui/dist/terminal-image.js";
import type { TuiStopOptions } from "@earendil-works/pi-tui/dist/tui.js";
import { TuiMainScreen } from "@earendil-works/pi-tui/dist/tui-main-screen.js";
import { FrameClock } from "./frame.ts";
import { RegionPainter } from "./region-painter.ts";
import { type TerminalPort, WatchedTerminal } from "./terminal.ts";
import { TerminalReplies, type TerminalReply } from "./terminal-replies.ts";

/** What the screen needs to know about its environment. */
export interface InlineScreenOptions {
  /** `TERM` and `TERM_PROGRAM`: how the terminal treats its rows when its width changes. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Called before each frame: notifies the terminal's listener if the size has changed. */
  readSize?: (() => void) | undefined;
}

/**
 * A screen that shares the terminal with the shell, whose scrollback is the transcript: finished lines are
 * written once, and below them the children render the live region, the only part that is ever redrawn.
 * Earlier content of the screen is never touched, and nothing except the rows of the live region is ever
 * cleared.
 *
 * Overlays of pi-tui are not drawn: a dialog replaces another child. Images are not drawn either.
 *
 * Limits. If the terminal gets smaller and the live region, wrapped by the terminal, no longer fits, its
 * first rows remain in the scrollback (in tmux also if empty rows below it would have made room). All of it
 * remains if the terminal may have changed its size before it read the last finished lines. If the terminal's
 * treatment of rows is unknown (see `Rewrap`), the screen claims as few rows as possible, so that a remainder
 * stays rather than a finished line being lost. A terminal that answers no query cannot report that it lags
 * behind; there, a resize while finished lines are being written may lose some.
 */
export class InlineScreen extends TuiMainScreen {
  // Private in the language, not only for the compiler: the superclass may have fields with these names.
  readonly #replies: TerminalReplies;
  readonly #clock = new FrameClock();
  readonly #painter: RegionPainter;
  readonly #input: ScreenInput;
  readonly #watched: WatchedTerminal;
  readonly #readSize: () => void;

  constructor(terminal: TerminalPort, { environment = {}, readSize = () => {} }: InlineScreenOptions = {}) {
    const watcher = {
      onResize: () => {
        this.#painter.noteResize();
        this.#clock.noteResize(() => this.renderNow(true), this.#replies.settling);
      },
      afterInput: () => this.#input.noteEnd(),
    };
    const watched = new WatchedTerminal(terminal, watcher, environment);
    super(watched);
    this.#watched = watched;
    this.#readSize = readSize;
    this.#replies = new TerminalReplies((sequence) => watched.write(sequence), environment);
    this.#painter = new RegionPainter(watched, this.#replies, this.#clock);
    this.#input = new ScreenInput(this.#replies, {
      onReply: (reply) => {
        if (reply.kind === "place") this.#painter.noteLocation(reply);
        // Now that the terminal is known, further queries may be needed.
        else if (reply.kind === "device") this.requestRender();
      },
      onKeys: () => super.renderNow(),
    });
    this.addInputListener((data) => this.#input.read(data));
  }

  /** Called before a frame is drawn, to add lines that are complete by then. */
  beforeFrame: () => readonly string[] = () => [];

  /** True while frames follow each other without keys. */
  isMoving: () => boolean = () => false;

  /** Resolves once all keys that were typed before the call have been handled. */
  async deliverTyped(): Promise<void> {
    await this.#watched.deliverTyped();
  }

  /**
   * Resolves once the terminal has read all output and sent its last reply, so that no reply reaches the program that
   * has the terminal next. Keys typed before the call count, later ones are dropped. Takes `limitMs` at most, and only a
   * moment in a terminal that never replies.
   */
  async endInput(limitMs: number): Promise<void> {
    await this.deliverTyped();
    this.#replies.end();
    await this.#input.drain(limitMs);
  }

  /**
   * Queues complete lines, to be written above the live region with the next frame, exactly once. While the
   * screen is stopped they wait for the first frame after the next start.
   */
  finish(lines: readonly string[]): void {
    this.#painter.queue(lines);
    this.requestRender();
  }

  override start(): void {
    this.#input.begin();
    super.start();
    // Forced, because a frame that was in progress when the screen was stopped would prevent another one; and
    // after signals were handled, one of which carries the size that the terminal got while the screen was
    // stopped.
    setImmediate(() => this.requestRender(true));
  }

  /** Requests a frame soon; with `force`, a frame at once that draws the whole live region. */
  override requestRender(force = false): void {
    if (!this.#clock.isRunning) return;
    if (force) super.requestRender(true);
    else this.#clock.request(() => super.requestRender());
  }

  /**
   * Draws the whole live region at once, from its first row as far as that is known: another program may have
   * overwritten it.
   */
  redraw(): void {
    if (!this.#clock.isRunning) return;
    this.#painter.returnToTop();
    super.requestRender(true);
  }

  protected override beforeTerminalStart(): void {
    this.#clock.start();
    // If pi-tui asked for it otherwise, it would run a program called `tmux` to find out, whichever that is.
    setCapabilityOverrides({ images: null, hyperlinks: false });
  }

  protected override afterTerminalStart(): void {
    this.#replies.begin();
  }

  /** Draws a frame synchronously, with `force` the whole live region. */
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
    this.#painter.draw(this.render(this.terminal.columns), { isMoving: this.isMoving() });
  }

  /**
   * Stops drawing: writes queued lines, leaves the live region as it is and moves the cursor below it. With
   * `isErased` the region is erased, and the cursor is at its start. The terminal stays in its modes until
   * `stop`.
   */
  leaveRegion({ isErased = false }: { isErased?: boolean } = {}): void {
    if (!isErased) this.#drawLast();
    this.#clock.stop();
    this.#painter.leave({ isErased });
  }

  /**
   * With `preserveScreen` nothing is written: the cursor is no longer where it was, and lines stay queued.
   */
  protected override beforeTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    if (!preserveScreen) this.leaveRegion();
    this.#clock.stop();
    this.#painter.forget();
    this.terminal.write(this.#replies.leaveKeyboard());
  }

  /** What stays in the terminal must be current, and not cut to an old size. */
  #drawLast(): void {
    if (!this.#painter.isDrawn) return;
    this.#clock.endSettling();
    try {
      this.doRender();
    } catch {
      // The program may be ending because it cannot draw: then the last drawn state stays.
    }
  }
}

/** The listener for input. */
interface InputWatcher {
  onReply(reply: TerminalReply): void;
  /** Keys were handled, so their changes must be shown. */
  onKeys(): void;
}

// A terminal that has not replied yet may take this long for its first reply.
const FIRST_REPLY_MS = 1_000;
// A terminal that never replies reads its input within this time.
const READ_MS = 10;

/**
 * Separates replies of the terminal from keys. The effect of keys is shown at once, however many arrive
 * together.
 */
class ScreenInput {
  private isReply = false;
  private areKeysNoted = false;
  private isDraining = false;
  private begunAt = 0;
  private onSilent: (() => void) | undefined;

  constructor(
    private readonly replies: TerminalReplies,
    private readonly watcher: InputWatcher,
  ) {}

  /** Call it when the terminal is taken. */
  begin(): void {
    this.isDraining = false;
    this.begunAt = performance.now();
  }

  /** An input listener for pi-tui: removes replies from what the key handler sees. */
  read(data: string): { consume: boolean } | undefined {
    const reply = this.replies.read(data);
    if (this.isDraining && !this.replies.isExpecting) this.onSilent?.();
    if (this.isDraining) return { consume: true };
    if (reply === undefined) return undefined;
    this.isReply = true;
    this.watcher.onReply(reply);
    return { consume: true };
  }

  /** Drops all further input. Resolves when no reply is pending, and after `limitMs` at the latest. */
  async drain(limitMs: number): Promise<void> {
    this.isDraining = true;
    const { isExpecting, isTalking } = this.replies;
    const firstMs = Math.max(READ_MS, this.begunAt + FIRST_REPLY_MS - performance.now());
    const waitMs = isTalking ? limitMs : Math.min(limitMs, isExpecting ? firstMs : READ_MS);
    const silent = Promise.withResolvers<void>();
    const limit = setTimeout(silent.resolve, waitMs);
    this.onSilent = silent.resolve;
    await silent.promise;
    clearTimeout(limit);
    this.onSilent = undefined;
  }

  /** Call it when input was handled. */
  noteEnd(): void {
    const { isReply } = this;
    this.isReply = false;
    if (isReply || this.isDraining || this.areKeysNoted) return;
    this.areKeysNoted = true;
    queueMicrotask(() => {
      this.areKeysNoted = false;
      this.watcher.onKeys();
    });
  }
}
