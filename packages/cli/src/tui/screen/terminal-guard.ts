import { HangUp, type HangUpHost } from "./hang-up.ts";
import { ignoreErrors } from "./ignore-errors.ts";
import type { InlineScreen } from "./inline-screen.ts";
import { type HeldModes, TerminalHandover, type WriteNow } from "./terminal-handover.ts";

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

  /** False where the terminal is not ours, or was given back meanwhile. */
  private async prepareLeaving({ isErased }: { isErased: boolean }): Promise<boolean> {
    if (this.state !== "held") return false;
    this.state = "leaving";
    await this.handover.prepare({ isErased });
    return this.isLeaving();
  }

  private isLeaving(): boolean {
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
