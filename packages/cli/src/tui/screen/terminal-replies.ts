import { setKittyProtocolActive } from "@earendil-works/pi-tui/dist/keys.js";
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

/** The content of a reply: the terminal's class, identity or keyboard, or the cursor position. */
export type TerminalReply = { kind: "class" } | { kind: "device" } | { kind: "keyboard" } | LocationReply;

/** Every terminal replies to this one, so it follows queries that not all of them know. */
const CLASS_QUERY = "\x1b[c";
const CLASS_REPLY = /^\p{Cc}\[\?[\d;]*c$/u;

/** A query whose reply has not arrived. */
type Query = { kind: "class" } | { kind: "device" } | { kind: "place"; region: DrawnRegion };

type Environment = Readonly<Record<string, string | undefined>>;

/** Queries a terminal for its properties, and stores its replies. */
export class TerminalReplies {
  private device: string | undefined;
  /** Terminals reply in order, and not to every query. */
  private asked: Query[] = [];
  private hasAnswered = false;
  private readonly keyboard = new Keyboard();

  /** @param write writes to the terminal. */
  constructor(
    private readonly write: (sequence: string) => void,
    private readonly environment: Environment,
  ) {}

  /** The terminal has replied before. */
  get isTalking(): boolean {
    return this.hasAnswered;
  }

  /** Queries are pending; in a terminal that answers none, they always are. */
  get isExpecting(): boolean {
    return this.asked.length > 0;
  }

  /** The terminal has not replied to a query after a frame yet, so it may not have read that frame. */
  get isBehind(): boolean {
    return this.asked.some(({ kind }) => kind === "place");
  }

  get rewrap(): Rewrap {
    return detectRewrap(this.traits);
  }

  get settling(): Settling {
    return detectSettling(this.traits);
  }

  /**
   * Queries the terminal when it was started, in raw mode: otherwise it would echo the replies like typed text.
   */
  begin(): void {
    this.asked = [{ kind: "class" }, { kind: "device" }];
    this.write(this.keyboard.enter() + CLASS_QUERY + DEVICE_QUERY);
  }

  /**
   * Ends the keyboard modes. A terminal that replies gets one last query: with its reply, everything before it
   * has arrived, too.
   */
  end(): void {
    const sequence = this.keyboard.leave();
    if (this.hasAnswered) this.asked.push({ kind: "class" });
    this.write(sequence + (this.hasAnswered ? CLASS_QUERY : ""));
  }

  /** The sequences that end the keyboard modes; empty if that was done. */
  leaveKeyboard(): string {
    return this.keyboard.leave();
  }

  /**
   * Written after a frame: a query if the position of the region is unknown, and after finished lines, to learn
   * that they were read. Only for a terminal that answers.
   */
  askForLocation(region: DrawnRegion, hasFinished: boolean): string {
    if (this.device === undefined) return "";
    const isKnown = region.top.min === region.top.max;
    if (!hasFinished && (isKnown || this.isBehind)) return "";
    this.asked.push({ kind: "place", region });
    return PLACE_QUERY;
  }

  /** Handles a reply; undefined for other input. */
  read(input: string): TerminalReply | undefined {
    const reply = this.recognize(input);
    if (reply !== undefined) this.hasAnswered = true;
    return reply;
  }

  private recognize(input: string): TerminalReply | undefined {
    const keyboardMode = this.keyboard.read(input);
    if (keyboardMode !== undefined) {
      this.write(keyboardMode);
      return { kind: "keyboard" };
    }
    if (CLASS_REPLY.test(input)) {
      this.takeAsked("class");
      this.write(this.keyboard.settle());
      return { kind: "class" };
    }
    const device = readDevice(input);
    if (device !== undefined) {
      this.device = device;
      this.takeAsked("device");
      return { kind: "device" };
    }
    // The same bytes could be a key, F3.
    const cursorRow = this.isBehind ? readLocation(input) : undefined;
    const query = cursorRow === undefined ? undefined : this.takeAsked("place");
    return cursorRow === undefined || query?.kind !== "place"
      ? undefined
      : { kind: "place", region: query.region, cursorRow };
  }

  /** Removes the query that was answered, and those before it: their replies would have arrived earlier. */
  private takeAsked(kind: Query["kind"]): Query | undefined {
    const at = this.asked.findIndex((query) => query.kind === kind);
    return this.asked.splice(0, at + 1).at(-1);
  }

  private get traits(): TerminalTraits {
    const { TERM: term, TERM_PROGRAM: termProgram } = this.environment;
    return { term, termProgram, device: this.device, hasAnswered: this.hasAnswered };
  }
}

// Escape as a sequence, key releases and alternate layouts, which pi-tui reads.
const KITTY_ON = "\x1b[>7u";
const KITTY_OFF = "\x1b[<u";
const KITTY_QUERY = "\x1b[?u";
const KITTY_REPLY = new RegExp(`^${"\x1b"}\\[\\?(\\d+)u$`);
const MODIFIED_KEYS_ON = "\x1b[>4;2m";
const MODIFIED_KEYS_OFF = "\x1b[>4;0m";

/** Turns on detailed key reports: the Kitty protocol, or xterm's modifyOtherKeys if the terminal lacks it. */
class Keyboard {
  private isEntered = false;
  private isKitty = false;
  private areKeysModified = false;

  enter(): string {
    this.isEntered = true;
    return KITTY_ON + KITTY_QUERY;
  }

  /** The output after a reply about the keyboard; undefined for other input. */
  read(input: string): string | undefined {
    const flags = KITTY_REPLY.exec(input)?.[1];
    if (flags === undefined) return undefined;
    if (!this.isEntered || flags === "0") return this.settle();
    this.isKitty = true;
    setKittyProtocolActive(true);
    return this.endModifiedKeys();
  }

  /** The output once the terminal has answered everything it knows. */
  settle(): string {
    if (!this.isEntered || this.isKitty || this.areKeysModified) return "";
    this.areKeysModified = true;
    return MODIFIED_KEYS_ON;
  }

  /** The output that ends the modes, once: ending the Kitty protocol twice would end that of another program. */
  leave(): string {
    if (!this.isEntered) return "";
    this.isEntered = false;
    this.isKitty = false;
    setKittyProtocolActive(false);
    return KITTY_OFF + this.endModifiedKeys();
  }

  private endModifiedKeys(): string {
    if (!this.areKeysModified) return "";
    this.areKeysModified = false;
    return MODIFIED_KEYS_OFF;
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
