import { writeSync } from "node:fs";
import type { InlineScreen } from "./inline-screen.ts";

// A group without a shell that controls it ignores the request to stop; then we go on at once.
const STOP_MS = 50;

type HostEvent = "exit" | "SIGCONT" | "SIGTSTP";

/** What of the process it needs; Node's `process` is one. */
export interface TerminalHost extends HangUpHost {
  on(event: HostEvent, listener: () => void): unknown;
  off(event: HostEvent, listener: () => void): unknown;
  kill(pid: number, signal: "SIGTSTP" | "SIGHUP"): unknown;
  readonly stdout: { on(event: "error", listener: (error: Error) => void): unknown };
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
  private borrower: AbortController | undefined;
  private readonly handover: TerminalHandover;
  private readonly hangUp: HangUp;

  constructor(
    screen: InlineScreen,
    private readonly host: TerminalHost,
    writeNow?: WriteNow,
  ) {
    this.handover = new TerminalHandover(screen, writeNow);
    // A terminal that went away is told by SIGHUP; that what was being written failed then is no news.
    host.stdout.on("error", () => {});
    this.hangUp = new HangUp(host, () => this.state === "held");
    host.on("exit", () => this.restore());
    host.on("SIGCONT", () => this.onContinue());
  }

  /** Further modes for the next time the terminal is taken. */
  accompany(modes: HeldModes): void {
    this.handover.accompany(modes);
  }

  /** Starts the screen, which draws itself. */
  hold(): void {
    if (this.state === "held") return;
    this.state = "held";
    this.host.on("SIGTSTP", this.suspend);
    this.handover.take();
  }

  /** Writes past the screen what moves no cursor; nothing while the terminal is somebody else's. */
  write(sequence: string): void {
    if (this.state === "held") this.handover.write(sequence);
  }

  /** Gives the terminal back, for good or until `hold`. May be called at any time and any number of times. */
  restore(): void {
    clearTimeout(this.resumption);
    this.hangUp.cancel();
    if (this.state === "held" || this.state === "leaving") this.release();
    this.state = "free";
    this.borrower?.abort();
  }

  /**
   * As `restore`, after input that is still under way has arrived, which takes 0.2 s at most. Text can be written as soon as
   * it is called: the cursor is below the live region then, or where that was with `isErased`.
   */
  async leave({ isErased = false }: { isErased?: boolean } = {}): Promise<void> {
    await this.prepareExit({ isErased });
    this.restore();
  }

  /**
   * What Ctrl+Z does: hands the terminal to the shell and stops, until the shell continues us. The live region goes, since
   * it is drawn again then.
   */
  readonly suspend = async (): Promise<void> => {
    if (!(await this.prepareExit({ isErased: true }))) return;
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
    const isLent = await this.prepareExit({ isErased: true });
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

  /** False where the terminal is not ours, or was given back meanwhile. */
  private async prepareExit({ isErased }: { isErased: boolean }): Promise<boolean> {
    if (this.state !== "held") return false;
    this.state = "leaving";
    await this.handover.prepare({ isErased });
    return this.isExiting();
  }

  private isExiting(): boolean {
    return this.state === "leaving";
  }

  /** Where we were stopped without being asked, the terminal was somebody else's all the same. */
  private onContinue(): void {
    if (this.state === "stopped") this.resume();
    else if (this.state === "held") this.handover.takeAgain();
  }

  private resume(): void {
    clearTimeout(this.resumption);
    if (this.state === "stopped") this.hold();
  }

  private release(): void {
    this.host.off("SIGTSTP", this.suspend);
    this.handover.giveBack();
  }
}

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
interface HeldModes {
  enter(): string;
  /** Called once after every `enter`. */
  leave(): string;
}

/** Writes to the terminal before it returns. */
type WriteNow = (text: string) => void;

const writeToStdout: WriteNow = (text) => void writeSync(STDOUT, text);

/**
 * The steps by which a screen takes the terminal and gives it back; when they are taken is up to the caller. `giveBack` never
 * throws, whatever has become of the terminal.
 */
class TerminalHandover {
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

// A terminal that goes away ends our input and sends SIGHUP, which is only delivered if we are still there; who is asked to
// end gets 1.3 s for that, so a signal of our own in its place comes later.
const HANG_UP_MS = 1500;

/** What of the process it needs. */
interface HangUpHost {
  kill(pid: number, signal: "SIGHUP"): unknown;
  readonly pid?: number;
  readonly stdin?: { on(event: "end" | "error", listener: () => void): unknown };
}

/** Sees to it that a program whose terminal went away gets its SIGHUP. */
class HangUp {
  private timer: Timer | undefined;

  /** `isHeld` is false while the end of our input says nothing: the terminal is somebody else's then. */
  constructor(
    private readonly host: HangUpHost,
    private readonly isHeld: () => boolean,
  ) {
    host.stdin?.on("end", () => this.onInputEnd());
    // Where the terminal is somebody else's by now, reading from it fails.
    host.stdin?.on("error", () => this.onInputEnd());
  }

  /** No signal is needed any more for an end of the input until now. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private onInputEnd(): void {
    const { pid } = this.host;
    if (!this.isHeld() || pid === undefined) return;
    this.timer = setTimeout(() => this.host.kill(pid, "SIGHUP"), HANG_UP_MS);
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
