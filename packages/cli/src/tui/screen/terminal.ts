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

/** The position of the cursor after the frame that drew `region`. */
export interface LocationReply {
  kind: "place";
  region: DrawnRegion;
  /** The row of the screen, from 0. */
  cursorRow: number;
}

/** The content of a reply: the terminal's identity, or the cursor position. */
export type TerminalReply = { kind: "device" } | LocationReply;

/** Queries a terminal for its properties, and stores its replies. */
export class TerminalReplies {
  private device: string | undefined;
  /** The regions whose position was requested and not received yet; terminals reply in order. */
  private asked: DrawnRegion[] = [];

  constructor(
    private readonly terminal: WatchedTerminal,
    private readonly environment: Readonly<Record<string, string | undefined>>,
  ) {}

  /** Queries are pending; in a terminal that answers none, they always are. */
  get isExpecting(): boolean {
    return this.device === undefined || this.isBehind;
  }

  /** The terminal has not replied to a query after a frame yet, so it may not have read that frame. */
  get isBehind(): boolean {
    return this.asked.length > 0;
  }

  get rewrap(): Rewrap {
    return detectRewrap(this.traits);
  }

  get settling(): Settling {
    return detectSettling(this.traits);
  }

  /**
   * Written once when a terminal is started, in raw mode: otherwise it would echo the reply like typed text.
   */
  askForDevice(): string {
    this.asked = [];
    return DEVICE_QUERY;
  }

  /**
   * Written after a frame: a query if the position of the region is unknown and needed, and after finished
   * lines, to learn that they were read. Only for a terminal that answers.
   */
  askForLocation(region: DrawnRegion, hasFinished: boolean): string {
    if (this.device === undefined) return "";
    const isKnown = region.top.least === region.top.most || this.rewrap !== "rewraps_around_cursor";
    if (!hasFinished && (isKnown || this.isBehind)) return "";
    this.asked.push(region);
    return PLACE_QUERY;
  }

  /** Handles a reply; undefined for other input. */
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

/** Listeners for terminal events. */
interface TerminalWatcher {
  /** The size may have changed; called before the terminal's renderer is notified. */
  onResize(): void;
  /** Input was handled. */
  afterInput(): void;
}

/** A terminal with additional listeners. */
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

  /** It has answered pi-tui's initial queries about its keyboard and device class. */
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

  /** Clearing would remove what the shell printed before, so it is not allowed. */
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
 * How long to wait after a resize before drawing a frame, in milliseconds. Dragging a window's edge resizes
 * in many steps. A frame drawn for one step while the terminal is at the next would land in the wrong rows.
 * So it waits until no further step comes for `quietMs`, but at most `longestMs` from the first.
 */
export interface Settling {
  readonly quietMs: number;
  readonly longestMs: number;
}

const PROMPT: Settling = { quietMs: 30, longestMs: 500 };
// tmux resizes its rows at once, but notifies the program at most every 250 ms. Output written in between,
// even one word of an answer, is for the old size: it is wrapped unexpectedly and overwrites lines that
// should stay.
const BEHIND_TMUX: Settling = { quietMs: 280, longestMs: 5_000 };
const TMUX = /^84;/;

/** How long to wait in a terminal with these traits; its own reply takes precedence over the environment. */
export function detectSettling({ term = "", termProgram, device }: TerminalTraits): Settling {
  const isTmux = device === undefined ? termProgram === "tmux" || /^tmux\b/.test(term) : TMUX.test(device);
  return isTmux ? BEHIND_TMUX : PROMPT;
}
