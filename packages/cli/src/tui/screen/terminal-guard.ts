import { writeSync } from "node:fs";
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

// A group without a shell that controls it ignores the request to stop; then we go on at once.
const STOP_MS = 50;
// Replies and key releases that are still under way would be typed into the shell.
const DRAIN_MS = 200;
const DRAIN_IDLE_MS = 40;
// A terminal reads within this what it was sent.
const READ_MS = 10;
// A terminal that goes away ends our input and sends SIGHUP, which is only delivered if we are still there; who is asked to
// end gets 1.3 s for that, so a signal of our own in its place comes later.
const HANG_UP_MS = 1500;
const STDOUT = 1;

type HostEvent = "exit" | "SIGCONT" | "SIGTSTP";

/** What of the process it needs; Node's `process` is one. */
export interface TerminalHost {
  on(event: HostEvent, listener: () => void): unknown;
  off(event: HostEvent, listener: () => void): unknown;
  kill(pid: number, signal: "SIGTSTP" | "SIGHUP"): unknown;
  readonly pid?: number;
  readonly stdin?: { on(event: "end" | "error", listener: () => void): unknown };
  readonly stdout: { on(event: "error", listener: (error: Error) => void): unknown };
}

/** Something else that is switched on while the terminal is held; what to write for it. */
export interface HeldModes {
  enter(): string;
  /** Called once after every `enter`. */
  leave(): string;
}

/**
 * Holds the terminal for a screen and gives it back as it was, whatever way the process ends but SIGKILL: cursor below
 * the live region and visible, raw mode and every other mode off. Signals and errors stay the program's own business;
 * it calls `leave`, or `restore` where it cannot wait, before it writes anything for a person, and the end of the process
 * does the latter in any case.
 */
export class TerminalGuard {
  private state: "free" | "held" | "leaving" | "stopped" | "lent" = "free";
  private resumption: Timer | undefined;
  private hangUp: Timer | undefined;
  private borrower: AbortController | undefined;
  private modes: HeldModes | undefined;
  private areModesOn = false;

  /** `writeNow` writes to the terminal before it returns. */
  constructor(
    private readonly screen: InlineScreen,
    private readonly host: TerminalHost,
    private readonly writeNow: (text: string) => void = (text) => void writeSync(STDOUT, text),
  ) {
    // A terminal that went away is told by SIGHUP; that what was being written failed then is no news.
    host.stdout.on("error", () => {});
    host.stdin?.on("end", () => this.onInputEnd());
    // Where the terminal is somebody else's by now, reading from it fails.
    host.stdin?.on("error", () => this.onInputEnd());
    host.on("exit", () => this.restore());
    host.on("SIGCONT", () => this.onContinue());
  }

  /** Further modes for the next time the terminal is taken. */
  accompany(modes: HeldModes): void {
    this.modes = modes;
  }

  /** Starts the screen, which draws itself. */
  hold(): void {
    if (this.state === "held") return;
    this.state = "held";
    this.host.on("SIGTSTP", this.suspend);
    this.screen.start();
    this.enterModes();
  }

  /** Writes past the screen what moves no cursor; nothing while the terminal is somebody else's. */
  write(sequence: string): void {
    if (this.state === "held" && sequence !== "") this.screen.terminal.write(sequence);
  }

  /** Gives the terminal back, for good or until `hold`. May be called at any time and any number of times. */
  restore(): void {
    clearTimeout(this.resumption);
    clearTimeout(this.hangUp);
    if (this.state === "held" || this.state === "leaving") this.release();
    this.state = "free";
    this.borrower?.abort();
  }

  /**
   * As `restore`, after input that is still under way has arrived, which takes 0.2 s at most. Text can be written as soon as
   * it is called: the cursor is below the live region then, or where that was with `isErased`.
   */
  async leave({ isErased = false }: { isErased?: boolean } = {}): Promise<void> {
    await this.prepareLeaving({ isErased });
    this.restore();
  }

  /**
   * What Ctrl+Z does: hands the terminal to the shell and stops, until the shell continues us. The live region goes, since
   * it is drawn again then.
   */
  readonly suspend = async (): Promise<void> => {
    if (!(await this.prepareLeaving({ isErased: true }))) return;
    this.release();
    this.state = "stopped";
    this.resumption = setTimeout(() => this.resume(), STOP_MS);
    // The whole group, as the terminal itself does it: whoever started us is stopped with us.
    ignoreErrors(() => this.host.kill(0, "SIGTSTP"));
  };

  /**
   * Lends the terminal to another program, such as an editor or a pager, while `run` lasts. The live region goes, since it
   * is drawn again afterwards. The signal says that the terminal is given back for good: the other program has to end too.
   */
  async lend<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const isLent = await this.prepareLeaving({ isErased: true });
    if (isLent) {
      this.release();
      this.state = "lent";
    }
    this.borrower = new AbortController();
    try {
      return await run(this.borrower.signal);
    } finally {
      if (isLent && this.state === "lent") this.hold();
    }
  }

  /**
   * Draws no more and waits for input under way. Once the terminal is not raw any more, Ctrl+C throws away what it has not
   * read yet; so everything is switched off, and read, before. False where the terminal is not ours, or was given back
   * meanwhile.
   */
  private async prepareLeaving({ isErased = false }: { isErased?: boolean } = {}): Promise<boolean> {
    if (this.state !== "held") return false;
    this.state = "leaving";
    ignoreErrors(() => this.screen.leaveRegion({ isErased }));
    const { terminal, isExpectingReply } = this.screen;
    ignoreErrors(() => terminal.write(this.leaveModes() + RESTORE_SEQUENCE));
    const isMoreExpected = terminal.kittyProtocolActive || isExpectingReply;
    await (isMoreExpected
      ? terminal.drainInput(DRAIN_MS, DRAIN_IDLE_MS)
      : terminal.drainInput(READ_MS, READ_MS));
    return this.isLeaving();
  }

  private isLeaving(): boolean {
    return this.state === "leaving";
  }

  private onContinue(): void {
    if (this.state === "stopped") this.resume();
    else if (this.state === "held") this.takeAgain();
  }

  private onInputEnd(): void {
    const { pid } = this.host;
    if (this.state !== "held" || pid === undefined) return;
    this.hangUp = setTimeout(() => this.host.kill(pid, "SIGHUP"), HANG_UP_MS);
  }

  private resume(): void {
    clearTimeout(this.resumption);
    if (this.state === "stopped") this.hold();
  }

  /** We were stopped without being asked: the shell has written below the cursor and may have changed modes. */
  private takeAgain(): void {
    ignoreErrors(() => this.screen.stop({ preserveScreen: true }));
    this.write(this.leaveModes());
    this.screen.start();
    this.enterModes();
  }

  private release(): void {
    this.host.off("SIGTSTP", this.suspend);
    ignoreErrors(() => this.screen.stop());
    ignoreErrors(() => this.writeNow(this.leaveModes() + RESTORE_SEQUENCE));
  }

  private enterModes(): void {
    this.areModesOn = true;
    this.write(this.modes?.enter() ?? "");
  }

  private leaveModes(): string {
    if (!this.areModesOn) return "";
    this.areModesOn = false;
    return this.modes?.leave() ?? "";
  }
}

/** For steps of which each is to be done even where another fails: the terminal may be gone. */
function ignoreErrors(step: () => unknown): void {
  try {
    step();
  } catch {
    // There is nobody left to tell, or nothing left to restore.
  }
}
