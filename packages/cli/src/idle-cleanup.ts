// Long enough that nobody expects anything to move, and that a quick succession of turns is one.
const QUIET_MS = 1_000;
// A command has been started by then, and most of them run on.
const STARTED_MS = 10;
// It takes some 10 ms: worth that where so much is held, and again once so much has come.
const MUCH_BYTES = 70_000_000;
const MORE_BYTES = 4_000_000;

/**
 * Has the runtime free what a turn has left behind once nothing has moved for a second. It would else keep tens of
 * megabytes of old results until it needs the room; it takes some 20 ms, in which no answer and seldom a key is waited for.
 */
export class IdleCleanup {
  private timer: Timer | undefined;
  private commandTimer: Timer | undefined;
  private enoughBytes = MUCH_BYTES;

  noteMovement(isMoving: boolean): void {
    clearTimeout(this.timer);
    if (isMoving) return;
    this.timer = setTimeout(() => Bun.gc(true), QUIET_MS);
    this.timer.unref();
  }

  /** A command is waited for: where much was left behind, it is freed meanwhile. Quick ones are over before. */
  noteCommand(isRunning: boolean): void {
    clearTimeout(this.commandTimer);
    if (!isRunning) return;
    this.commandTimer = setTimeout(() => {
      if (process.memoryUsage.rss() > this.enoughBytes) this.cleanUp();
    }, STARTED_MS).unref();
  }

  private cleanUp(): void {
    Bun.gc(true);
    this.enoughBytes = Math.max(MUCH_BYTES, process.memoryUsage.rss() + MORE_BYTES);
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.commandTimer);
  }
}
