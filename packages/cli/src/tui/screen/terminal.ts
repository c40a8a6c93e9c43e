import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import { SequenceReader } from "./sequence-reader.ts";

/** The parts of a terminal that a screen needs: its size, input and output. */
export interface TerminalPort {
  readonly columns: number;
  readonly rows: number;
  /** Switches the terminal to raw mode. `onInput` gets the input as it arrives, split anywhere. */
  start(onInput: (data: string) => void, onResize: () => void): void;
  /** Restores the mode that the terminal had before. */
  stop(): void;
  write(data: string): void;
  /** Delivers all input that was typed before the call. Left out by terminals whose input never waits. */
  deliverTyped?(): Promise<void>;
}

const PASTE_MARKS_ON = "\x1b[?2004h";
const PASTE_MARKS_OFF = "\x1b[?2004l";

/** Listeners for terminal events. */
interface TerminalWatcher {
  /** The size may have changed; called before the terminal's renderer is notified. */
  onResize(): void;
  /** Input was handled. */
  afterInput(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

// The rest of a sequence arrives together with its start, or within this time; over a network later.
const ESCAPE_MS = 10;
const REMOTE_ESCAPE_MS = 100;
const SEQUENCE_MS = 150;

/**
 * A terminal for pi-tui, with additional listeners. Splits the input into keys, replies and pastes, so that it
 * does not matter in which chunks it arrives.
 */
export class WatchedTerminal implements Terminal {
  private readonly reader = new SequenceReader();
  private unfinished: Timer | undefined;
  private onInput: (data: string) => void = () => {};

  constructor(
    private readonly port: TerminalPort,
    private readonly watcher: TerminalWatcher,
    private readonly environment: Environment = {},
  ) {}

  get columns(): number {
    return Math.max(1, this.port.columns);
  }

  get rows(): number {
    return Math.max(1, this.port.rows);
  }

  /** Part of the interface of pi-tui, which does not read it; see `Keyboard`. */
  get kittyProtocolActive(): boolean {
    return false;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const handleResize = () => {
      this.watcher.onResize();
      onResize();
    };
    this.onInput = onInput;
    this.port.start((data) => this.take(data), handleResize);
    this.write(PASTE_MARKS_ON);
  }

  stop(): void {
    clearTimeout(this.unfinished);
    this.reader.clear();
    this.onInput = () => {};
    this.write(PASTE_MARKS_OFF);
    this.port.stop();
  }

  write(data: string): void {
    this.port.write(data);
  }

  /** Part of the interface of pi-tui; `InlineScreen.endInput` takes its place. */
  async drainInput(): Promise<void> {}

  /** Delivers all input that was typed before the call. */
  async deliverTyped(): Promise<void> {
    await this.port.deliverTyped?.();
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }

  hideCursor(): void {
    this.write("\x1b[?25l");
  }

  showCursor(): void {
    this.write("\x1b[?25h");
  }

  clearLine(): void {
    this.write("\x1b[K");
  }

  clearFromCursor(): void {
    this.write("\x1b[J");
  }

  /** Clearing would remove what the shell printed before, so it is not allowed. */
  clearScreen(): void {
    throw new Error("The screen is shared with the shell and is never cleared.");
  }

  setTitle(title: string): void {
    this.write(`\x1b]0;${title}\x07`);
  }

  /** Part of the interface of pi-tui; progress is only shown on the screen. */
  setProgress(): void {}

  private take(data: string): void {
    clearTimeout(this.unfinished);
    this.deliver(this.reader.read(data));
    const waitMs = this.waitMs();
    if (waitMs === undefined) return;
    const flush = () => this.deliver(this.reader.flush());
    // After a pause of the process, timers run before input is read. A second timer leaves room for the input between them.
    this.unfinished = setTimeout(() => {
      this.unfinished = setTimeout(flush, 1);
    }, waitMs);
  }

  private deliver(sequences: readonly string[]): void {
    for (const sequence of sequences) this.onInput(sequence);
    this.watcher.afterInput();
  }

  /** How long to wait for the rest of a sequence; undefined if there is none, and for pastes. */
  private waitMs(): number | undefined {
    const { unfinished } = this.reader;
    if (unfinished === "nothing" || unfinished === "paste") return undefined;
    const { SSH_CONNECTION, SSH_TTY } = this.environment;
    const escapeMs = SSH_CONNECTION || SSH_TTY ? REMOTE_ESCAPE_MS : ESCAPE_MS;
    return unfinished === "escape" ? escapeMs : SEQUENCE_MS;
  }
}
