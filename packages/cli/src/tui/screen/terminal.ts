import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { DrawnRegion } from "./region.ts";
import {
  DEVICE_QUERY,
  detectRewrap,
  PLACE_QUERY,
  type Rewrap,
  readDevice,
  readLocation,
  type TerminalTraits,
} from "./region.ts";

/** Where the cursor is behind the frame that drew `region`. */
export interface LocationReply {
  kind: "place";
  region: DrawnRegion;
  /** The row of the screen, from 0. */
  cursorRow: number;
}

/** What a reply says: what the terminal is, or where the cursor is. */
export type TerminalReply = { kind: "device" } | LocationReply;

/** Asks a terminal what has to be known of it, and keeps what it replies. */
export class TerminalReplies {
  private device: string | undefined;
  /** The regions whose place was asked for and not told yet; terminals reply in order. */
  private asked: DrawnRegion[] = [];

  constructor(
    private readonly terminal: WatchedTerminal,
    private readonly environment: Readonly<Record<string, string | undefined>>,
  ) {}

  /** Questions are unanswered, as they remain in a terminal that answers none. */
  get isExpecting(): boolean {
    return this.device === undefined || this.isBehind;
  }

  /** The terminal has not replied yet to a question behind a frame, and may not have read that frame. */
  get isBehind(): boolean {
    return this.asked.length > 0;
  }

  get rewrap(): Rewrap {
    return detectRewrap(this.traits);
  }

  get settling(): Settling {
    return detectSettling(this.traits);
  }

  /** What to write once when a terminal is started, in raw mode: else it would show the reply like something typed. */
  askForDevice(): string {
    this.asked = [];
    return DEVICE_QUERY;
  }

  /**
   * What to write behind a frame: a question where the place of the region is not known and has to be, and behind finished
   * lines, to be told that they have been read. Only for a terminal that answers.
   */
  askForLocation(region: DrawnRegion, hasFinished: boolean): string {
    if (this.device === undefined) return "";
    const isKnown = region.top.least === region.top.most || this.rewrap !== "rewraps_around_cursor";
    if (!hasFinished && (isKnown || this.isBehind)) return "";
    this.asked.push(region);
    return PLACE_QUERY;
  }

  /** Takes in a reply; undefined where the input is none. */
  read(input: string): TerminalReply | undefined {
    const device = readDevice(input);
    if (device !== undefined) {
      this.device = device;
      return { kind: "device" };
    }
    const cursorRow = this.isBehind ? readLocation(input) : undefined;
    const region = cursorRow === undefined ? undefined : this.asked.shift();
    return cursorRow === undefined || region === undefined ? undefined : { kind: "place", region, cursorRow };
  }

  private get traits(): TerminalTraits {
    const { TERM: term, TERM_PROGRAM: termProgram } = this.environment;
    const { hasAnswered } = this.terminal;
    return { term, termProgram, device: this.device, hasAnswered };
  }
}

/** Who is told what happens in a terminal. */
interface TerminalWatcher {
  /** The size may have changed; called before whoever draws in the terminal is told. */
  onResize(): void;
  /** Input has been dealt with. */
  afterInput(): void;
}

/** A terminal that also tells somebody else what happens. */
export class WatchedTerminal implements Terminal {
  constructor(
    private readonly terminal: Terminal,
    private readonly watcher: TerminalWatcher,
  ) {}

  get columns(): number {
    return Math.max(1, this.terminal.columns);
  }

  get rows(): number {
    return Math.max(1, this.terminal.rows);
  }

  get kittyProtocolActive(): boolean {
    return this.terminal.kittyProtocolActive;
  }

  /** It has answered what pi-tui asks when it starts: about its keyboard, and what class of terminal it is. */
  get hasAnswered(): boolean {
    const { terminal } = this;
    return (
      terminal.kittyProtocolActive ||
      ("modifyOtherKeysActive" in terminal && terminal.modifyOtherKeysActive === true)
    );
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const handleInput = (data: string) => {
      onInput(data);
      this.watcher.afterInput();
    };
    const handleResize = () => {
      this.watcher.onResize();
      onResize();
    };
    this.terminal.start(handleInput, handleResize);
  }

  stop(): void {
    this.terminal.stop();
  }

  drainInput(maxMs?: number, idleMs?: number): Promise<void> {
    return this.terminal.drainInput(maxMs, idleMs);
  }

  write(data: string): void {
    this.terminal.write(data);
  }

  moveBy(lines: number): void {
    this.terminal.moveBy(lines);
  }

  hideCursor(): void {
    this.terminal.hideCursor();
  }

  showCursor(): void {
    this.terminal.showCursor();
  }

  clearLine(): void {
    this.terminal.clearLine();
  }

  clearFromCursor(): void {
    this.terminal.clearFromCursor();
  }

  /** Would clear what the shell printed before us; nobody may. */
  clearScreen(): void {
    throw new Error("The screen is shared with the shell and is never cleared.");
  }

  setTitle(title: string): void {
    this.terminal.setTitle(title);
  }

  setProgress(active: boolean): void {
    this.terminal.setProgress(active);
  }
}

/**
 * How long a change of the terminal's size is waited out before a frame is drawn for it, in milliseconds. Who drags a
 * window's edge changes the size in many steps. Drawn for one of them while the terminal is at the next, a frame would land
 * in the wrong rows; so it waits until no further step comes for `quietMs`, but no more than `longestMs` from the first on.
 */
export interface Settling {
  readonly quietMs: number;
  readonly longestMs: number;
}

const PROMPT: Settling = { quietMs: 30, longestMs: 500 };
// tmux changes its rows at once, but tells the program no more often than every 250 ms. Whatever is written in between, and
// be it one word of an answer, is for a size that is gone: it is wrapped unexpectedly and lands on lines that are to stay.
const BEHIND_TMUX: Settling = { quietMs: 280, longestMs: 5_000 };
const TMUX = /^84;/;

/** How long to wait in the terminal with these traits; its own answer counts for more than the environment. */
export function detectSettling({ term = "", termProgram, device }: TerminalTraits): Settling {
  const isTmux = device === undefined ? termProgram === "tmux" || /^tmux\b/.test(term) : TMUX.test(device);
  return isTmux ? BEHIND_TMUX : PROMPT;
}
