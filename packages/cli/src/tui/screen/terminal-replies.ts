import type { LiveRegion } from "./frame.ts";
import { PLACE_QUERY, readPlace } from "./region-top.ts";
import { DEVICE_QUERY, detectRewrap, type Rewrap, readDevice, type TerminalTraits } from "./rewrap.ts";
import { detectSettling, type Settling } from "./settling.ts";
import type { WatchedTerminal } from "./watched-terminal.ts";

/** Where the cursor is behind the frame that drew `region`. */
export interface PlaceReply {
  kind: "place";
  region: LiveRegion;
  /** The row of the screen, from 0. */
  cursorRow: number;
}

/** What a reply says: what the terminal is, or where the cursor is. */
export type TerminalReply = { kind: "device" } | PlaceReply;

/** Asks a terminal what has to be known of it, and keeps what it replies. */
export class TerminalReplies {
  private device: string | undefined;
  /** The regions whose place was asked for and not told yet; terminals reply in order. */
  private asked: LiveRegion[] = [];

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
  askForPlace(region: LiveRegion, hasFinished: boolean): string {
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
    const cursorRow = this.isBehind ? readPlace(input) : undefined;
    const region = cursorRow === undefined ? undefined : this.asked.shift();
    return cursorRow === undefined || region === undefined ? undefined : { kind: "place", region, cursorRow };
  }

  private get traits(): TerminalTraits {
    const { TERM: term, TERM_PROGRAM: termProgram } = this.environment;
    const { hasAnswered } = this.terminal;
    return { term, termProgram, device: this.device, hasAnswered };
  }
}
