/** Where a draft outlives the program, such as core's `DraftFile`. */
export interface DraftStore {
  takeOver(): string | undefined;
  write(text: string): void;
  remove(): void;
}

// What a program that is killed may lose of it.
const PAUSE_MS = 300;

/** Keeps what is being written and was not sent yet: at once, and then every 300 ms at most. */
export class DraftKeeper {
  private latest: string | undefined;
  private pause: Timer | undefined;

  constructor(
    private readonly store: DraftStore,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /** The draft that an earlier run left behind; it stays kept until it is changed or sent. */
  restore(): string | undefined {
    return this.store.takeOver();
  }

  change(text: string): void {
    this.latest = text;
    if (this.pause === undefined) this.keep();
  }

  /** To be called when the program ends: what was changed last is kept too. */
  flush(): void {
    this.stop();
    if (this.latest !== undefined) this.store.write(this.latest);
    this.latest = undefined;
  }

  /** The prompt is on its way; there is nothing left to lose. */
  sent(): void {
    this.stop();
    this.latest = undefined;
    this.store.remove();
  }

  private keep(): void {
    const text = this.latest;
    this.latest = undefined;
    this.pause = undefined;
    if (text === undefined) return;
    this.store.write(text);
    this.pause = setTimeout(() => this.keep(), this.pauseMs);
    this.pause.unref();
  }

  private stop(): void {
    clearTimeout(this.pause);
    this.pause = undefined;
  }
}
