import { writeSync } from "node:fs";
import { ignoreErrors } from "./ignore-errors.ts";
import type { InlineScreen } from "./inline-screen.ts";

/**
 * Everything a terminal program may have switched on, switched off, in an order that also ends a sequence that was cut
 * short. Left out is what only pi-tui's terminal may end, because it stacks: the Kitty keyboard protocol.
 */
const RESTORE_SEQUENCE = [
  "\x1b\\", // ends a string sequence
  "\x1b[?2026l", // synchronised output
  "\x1b[0m\x1b]8;;\x1b\\", // attributes, links
  "\x1b[?7h", // wraps at the right edge
  "\x1b[?2004l", // bracketed paste
  "\x1b[>4;0m", // modifyOtherKeys
  "\x1b[?1004l", // focus
  "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l", // mouse
  "\x1b[?2031l", // changes of the colour scheme
  "\x1b[?25h", // cursor
].join("");

// Replies and key releases that are still under way would be typed into the shell.
const DRAIN_MS = 200;
const DRAIN_IDLE_MS = 40;
// A terminal reads within this what it was sent.
const READ_MS = 10;
const STDOUT = 1;

/** Something else that is switched on while the terminal is held; what to write for it. */
export interface HeldModes {
  enter(): string;
  /** Called once after every `enter`. */
  leave(): string;
}

/** Writes to the terminal before it returns. */
export type WriteNow = (text: string) => void;

const writeToStdout: WriteNow = (text) => void writeSync(STDOUT, text);

/**
 * The steps by which a screen takes the terminal and gives it back; when they are taken is up to the caller. `giveBack` never
 * throws, whatever has become of the terminal.
 */
export class TerminalHandover {
  private modes: HeldModes | undefined;
  private areModesOn = false;

  constructor(
    private readonly screen: InlineScreen,
    private readonly writeNow: WriteNow = writeToStdout,
  ) {}

  /** Further modes for the next time the terminal is taken. */
  accompany(modes: HeldModes): void {
    this.modes = modes;
  }

  /** Starts the screen, which draws itself. */
  take(): void {
    this.screen.start();
    this.areModesOn = true;
    this.write(this.modes?.enter() ?? "");
  }

  /** For a terminal in which somebody else has meanwhile written below the cursor, and may have changed modes. */
  takeAgain(): void {
    ignoreErrors(() => this.screen.stop({ preserveScreen: true }));
    this.write(this.leaveModes());
    this.take();
  }

  /** Writes past the screen what moves no cursor. */
  write(sequence: string): void {
    if (sequence !== "") this.screen.terminal.write(sequence);
  }

  /**
   * Draws no more and waits for input under way, 0.2 s at most. Once the terminal is not raw any more, Ctrl+C throws away
   * what it has not read yet; so everything is switched off, and read, before.
   */
  async prepare({ isErased }: { isErased: boolean }): Promise<void> {
    ignoreErrors(() => this.screen.leaveRegion({ isErased }));
    const { terminal, isExpectingReply } = this.screen;
    ignoreErrors(() => terminal.write(this.leaveModes() + RESTORE_SEQUENCE));
    const isMoreExpected = terminal.kittyProtocolActive || isExpectingReply;
    await (isMoreExpected
      ? terminal.drainInput(DRAIN_MS, DRAIN_IDLE_MS)
      : terminal.drainInput(READ_MS, READ_MS));
  }

  /** Gives the terminal back as it was before it returns, prepared for or not. */
  giveBack(): void {
    ignoreErrors(() => this.screen.stop());
    ignoreErrors(() => this.writeNow(this.leaveModes() + RESTORE_SEQUENCE));
  }

  private leaveModes(): string {
    if (!this.areModesOn) return "";
    this.areModesOn = false;
    return this.modes?.leave() ?? "";
  }
}
