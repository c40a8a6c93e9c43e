// A terminal that goes away ends our input and sends SIGHUP, which is only delivered if we are still there; who is asked to
// end gets 1.3 s for that, so a signal of our own in its place comes later.
const HANG_UP_MS = 1500;

/** What of the process it needs. */
export interface HangUpHost {
  kill(pid: number, signal: "SIGHUP"): unknown;
  readonly pid?: number;
  readonly stdin?: { on(event: "end" | "error", listener: () => void): unknown };
}

/** Sees to it that a program whose terminal went away gets its SIGHUP. */
export class HangUp {
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
