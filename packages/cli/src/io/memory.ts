// Long enough that nothing is expected to move, and that quick successive turns count as one.
const QUIET_MS = 1_000;
// By then a command has started, and most of them keep running.
const STARTED_MS = 10;
// Cleaning up takes 10 to 20 ms: worthwhile above this much memory, and again after as much growth.
const MUCH_BYTES = 70_000_000;
const MORE_BYTES = 4_000_000;
// The check interval and the required growth while something moves on the screen, for example a flood of output.
const WATCH_MS = 50;
const FLOOD_BYTES = 24_000_000;

/**
 * Makes the runtime free a turn's garbage after a second without movement. Otherwise it would keep tens of megabytes of
 * old results until it needs the memory; it takes about 20 ms, in which neither an answer nor, usually, a key is
 * awaited.
 */
export class IdleCleanup {
  private timer: Timer | undefined;
  private commandTimer: Timer | undefined;
  private watch: Timer | undefined;
  private enoughBytes = MUCH_BYTES;

  /** While something moves, only floods of garbage are collected. */
  noteMovement(isMoving: boolean): void {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    if (isMoving) this.watchFlood();
    else this.timer = setTimeout(() => Bun.gc(true), QUIET_MS).unref();
  }

  /** While a command runs, large amounts of garbage are collected. Quick commands end before that. */
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

  /** Collects if more than the threshold is in use; the next threshold is what remains plus `more`. */
  private cleanUp(more: number): void {
    if (process.memoryUsage.rss() <= this.enoughBytes) return;
    Bun.gc(true);
    this.enoughBytes = Math.max(MUCH_BYTES, process.memoryUsage.rss() + more);
  }
}
