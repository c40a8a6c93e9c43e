// Long enough that nobody expects anything to move, and that a quick succession of turns is one.
const QUIET_MS = 1_000;

/**
 * Has the runtime free what a turn has left behind once nothing has moved for a second. It would else keep tens of
 * megabytes of old results until it needs the room; it takes some 20 ms, in which no answer and seldom a key is waited for.
 */
export class IdleCleanup {
  private timer: Timer | undefined;

  noteMovement(isMoving: boolean): void {
    this.stop();
    if (isMoving) return;
    this.timer = setTimeout(() => Bun.gc(true), QUIET_MS);
    this.timer.unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
