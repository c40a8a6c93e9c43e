// Long enough that nobody expects anything to move, and that a quick succession of turns is one.
const QUIET_MS = 1_000;
// A command has been started by then, and most of them run on.
const STARTED_MS = 10;
// Cleaning up takes 10 to 20 ms: worth that where so much is held, and again once so much has come.
const MUCH_BYTES = 70_000_000;
const MORE_BYTES = 4_000_000;
// While something moves on a screen it is looked so often, and so much has to have come: a flood of output, for instance.
const WATCH_MS = 50;
const FLOOD_BYTES = 24_000_000;

/**
 * Has the runtime free what a turn has left behind once nothing has moved for a second. It would else keep tens of
 * megabytes of old results until it needs the room; it takes some 20 ms, in which no answer and seldom a key is waited for.
 */
export class IdleCleanup {
  private timer: Timer | undefined;
  private commandTimer: Timer | undefined;
  private watch: Timer | undefined;
  private enoughBytes = MUCH_BYTES;

  /** While something moves, only what comes in a flood is freed. */
  noteMovement(isMoving: boolean): void {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    if (isMoving) this.watchFlood();
    else this.timer = setTimeout(() => Bun.gc(true), QUIET_MS).unref();
  }

  /** A command is waited for: where much was left behind, it is freed meanwhile. Quick ones are over before. */
  noteCommand(isRunning: boolean): void {
    clearTimeout(this.commandTimer);
    if (!isRunning) return;
    this.commandTimer = setTimeout(() => {
      this.cleanUp(MORE_BYTES);
    }, STARTED_MS).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.commandTimer);
    clearInterval(this.watch);
  }

  private watchFlood(): void {
    this.enoughBytes = process.memoryUsage.rss() + FLOOD_BYTES;
    this.watch = setInterval(() => this.cleanUp(FLOOD_BYTES), WATCH_MS).unref();
  }

  /** Where more is held than is enough; `more` than what is left then is enough for the next time. */
  private cleanUp(more: number): void {
    if (process.memoryUsage.rss() <= this.enoughBytes) return;
    Bun.gc(true);
    this.enoughBytes = Math.max(MUCH_BYTES, process.memoryUsage.rss() + more);
  }
}
