import { writeSync } from "node:fs";
import type { InlineScreen } from "./inline-screen.ts";

// A process group without a controlling shell ignores the request to stop; the program then continues at
// once.
const STOP_MS = 50;

type HostEvent = "exit" | "SIGCONT" | "SIGTSTP";

/** What it needs of the process; Node's `process` fits. */
export interface TerminalHost extends HangUpHost {
  on(event: HostEvent, listener: () => void): unknown;
  off(event: HostEvent, listener: () => void): unknown;
  kill(pid: number, signal: "SIGTSTP" | "SIGHUP"): unknown;
  readonly stdout: { on(event: "error", listener: (error: Error) => void): unknown };
}

/**
 * Holds the terminal for a screen and restores it however the process ends, except by SIGKILL: cursor below
 * the live region and visible, raw mode and all other modes off. The program itself handles signals and
 * errors; it calls `leave`, or `restore` if it cannot wait, before it prints anything. When the process ends,
 * `restore` runs in any case.
 */
export class TerminalGuard {
  private state: "free" | "held" | "leaving" | "stopped" | "lent" = "free";
  private resumption: Timer | undefined;
  private borrowing: AbortController | undefined;
  private readonly handover: TerminalHandover;
  private readonly hangUp: HangUp;

  constructor(
    screen: InlineScreen,
    private readonly host: TerminalHost,
    writeNow?: WriteNow,
  ) {
    this.handover = new TerminalHandover(screen, writeNow);
    // SIGHUP reports a terminal that went away; a failed write then is nothing new.
    host.stdout.on("error", () => {});
    this.hangUp = new HangUp(host, () => this.state === "held");
    host.on("exit", () => this.restore());
    host.on("SIGCONT", () => this.onContinue());
  }

  /** Further modes for the next time the terminal is taken. */
  addModes(modes: HeldModes): void {
    this.handover.addModes(modes);
  }

  /** Starts the screen, which draws itself. */
  hold(): void {
    if (this.state === "held") return;
    this.state = "held";
    this.host.on("SIGTSTP", this.suspend);
    this.handover.take();
  }

  /**
   * Writes directly to the terminal, for output that does not move the cursor; nothing while another program
   * has the terminal.
   */
  write(sequence: string): void {
    if (this.state === "held") this.handover.write(sequence);
  }

  /** Restores the terminal, for good or until `hold`. May be called at any time and repeatedly. */
  restore(): void {
    clearTimeout(this.resumption);
    this.hangUp.cancel();
    if (this.state === "held" || this.state === "leaving") this.release();
    this.state = "free";
    this.borrowing?.abort();
  }

  /**
   * Like `restore`, but waits up to half a second for the last reply of the terminal. Text can be printed as soon
   * as it is called: the cursor is below the live region then, or at its start with `isErased`.
   */
  async leave({ isErased = false }: { isErased?: boolean } = {}): Promise<void> {
    await this.prepareExit({ isErased, limitMs: LEAVING_MS });
    this.restore();
  }

  /**
   * The effect of Ctrl+Z: gives the terminal to the shell and stops until the shell continues us. The live
   * region is erased, since it is drawn again then.
   */
  readonly suspend = async (): Promise<void> => {
    if (!(await this.prepareExit({ isErased: true, limitMs: LENDING_MS }))) return;
    this.release();
    this.state = "stopped";
    this.resumption = setTimeout(() => this.resume(), STOP_MS);
    // The whole group, like the terminal itself does: the process that started us is stopped with us.
    ignoreErrors(() => this.host.kill(0, "SIGTSTP"));
  };

  /**
   * Lends the terminal to another program, such as an editor or a pager, during `run`. The live region is
   * erased, since it is drawn again afterwards. The signal says that the terminal is being restored for good,
   * so the other program must end too.
   */
  async lend<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const isLent = await this.prepareExit({ isErased: true, limitMs: LENDING_MS });
    if (isLent) {
      this.release();
      this.state = "lent";
    }
    this.borrowing = new AbortController();
    try {
      return await run(this.borrowing.signal);
    } finally {
      if (isLent && this.state === "lent") this.hold();
    }
  }

  /** False if the terminal is not ours, or was restored meanwhile. */
  private async prepareExit(options: HandoverOptions): Promise<boolean> {
    if (this.state !== "held") return false;
    this.state = "leaving";
    await this.handover.prepare(options);
    return this.isExiting();
  }

  private isExiting(): boolean {
    return this.state === "leaving";
  }

  /** If the process was stopped from outside, another program may have used the terminal. */
  private onContinue(): void {
    if (this.state === "stopped") this.resume();
    else if (this.state === "held") this.handover.retake();
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
 * Turns off everything that a terminal program may have turned on, in an order that also ends a truncated
 * sequence. Excluded is the Kitty keyboard protocol, which is a stack and so may only be ended by the program
 * that began it.
 */
const RESTORE_SEQUENCE = [
  "\x1b\\", // ends a string sequence
  "\x1b[?2026l", // synchronized output
  "\x1b[0m\x1b]8;;\x1b\\", // attributes, links
  "\x1b[?7h", // wrapping at the right edge
  "\x1b[?2004l", // bracketed paste
  "\x1b[>4;0m", // modifyOtherKeys
  "\x1b[?1004l", // focus reports
  "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l", // mouse
  "\x1b[?2031l", // reports of colour scheme changes
  "\x1b[?25h", // cursor
].join("");

// Replies and key releases that are still arriving would be typed into the program that has the terminal next. A
// terminal that replies does so at once, or after a moment on a busy machine. Leaving waits less: the process ends anyway.
const LENDING_MS = 5_000;
const LEAVING_MS = 500;
const STDOUT = 1;

/** A further mode that is on while the terminal is held, and the output that switches it. */
interface HeldModes {
  enter(): string;
  /** Called once after every `enter`. */
  leave(): string;
}

interface HandoverOptions {
  /** Erases the live region; otherwise the cursor is left below it. */
  isErased: boolean;
  limitMs: number;
}

/** Writes to the terminal synchronously. */
type WriteNow = (text: string) => void;

const writeToStdout: WriteNow = (text) => void writeSync(STDOUT, text);

/**
 * The steps by which a screen takes the terminal and restores it; the caller decides when. `giveBack` never
 * throws, whatever happened to the terminal.
 */
class TerminalHandover {
  private modes: HeldModes | undefined;
  private areModesOn = false;

  constructor(
    private readonly screen: InlineScreen,
    private readonly writeNow: WriteNow = writeToStdout,
  ) {}

  /** Further modes for the next time the terminal is taken. */
  addModes(modes: HeldModes): void {
    this.modes = modes;
  }

  /** Starts the screen, which draws itself. */
  take(): void {
    this.screen.start();
    this.areModesOn = true;
    this.write(this.modes?.enter() ?? "");
  }

  /** For a terminal in which another program has written below the cursor and may have changed modes. */
  retake(): void {
    ignoreErrors(() => this.screen.stop({ preserveScreen: true }));
    this.write(this.leaveModes());
    this.take();
  }

  /** Writes directly to the terminal, for output that does not move the cursor. */
  write(sequence: string): void {
    if (sequence !== "") this.screen.terminal.write(sequence);
  }

  /**
   * Stops drawing and waits for the last reply of the terminal, up to `limitMs`. Once the terminal leaves raw mode,
   * Ctrl+C discards everything it has not read yet; so all modes are turned off, and the replies read, before.
   */
  async prepare({ isErased, limitMs }: HandoverOptions): Promise<void> {
    ignoreErrors(() => this.screen.leaveRegion({ isErased }));
    ignoreErrors(() => this.screen.terminal.write(this.leaveModes() + RESTORE_SEQUENCE));
    await this.screen.endInput(limitMs).catch(() => {}); // The terminal is gone.
  }

  /** Restores the terminal synchronously, whether it was prepared or not. */
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

// A terminal that goes away ends our input and sends SIGHUP, which is only delivered if the process still
// exists. A process asked to end gets 1.3 s, so our own signal in its place comes later.
const HANG_UP_MS = 1500;

/** What it needs of the process. */
interface HangUpHost {
  kill(pid: number, signal: "SIGHUP"): unknown;
  readonly pid?: number;
  readonly stdin?: { on(event: "end" | "error", listener: () => void): unknown };
}

/** Ensures that a program whose terminal went away gets its SIGHUP. */
class HangUp {
  private timer: Timer | undefined;

  /** `isHeld` is false while the end of our input means nothing, because another program has the terminal. */
  constructor(
    private readonly host: HangUpHost,
    private readonly isHeld: () => boolean,
  ) {
    host.stdin?.on("end", () => this.onInputEnd());
    // If another program has the terminal by now, reading from it fails.
    host.stdin?.on("error", () => this.onInputEnd());
  }

  /** An end of the input until now needs no signal any more. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private onInputEnd(): void {
    const { pid } = this.host;
    if (!this.isHeld() || pid === undefined) return;
    this.timer = setTimeout(() => this.host.kill(pid, "SIGHUP"), HANG_UP_MS);
  }
}

/** Runs every step, even if another one fails: the terminal may be gone. */
function ignoreErrors(step: () => unknown): void {
  try {
    step();
  } catch {
    // There is nobody left to notify, or nothing left to restore.
  }
}
