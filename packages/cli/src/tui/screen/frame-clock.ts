import type { Settling } from "./settling.ts";

// Text that streams looks smooth at 20 frames a second, and every further frame costs 40 bytes. Keys do not wait for it.
const FRAME_MS = 50;

/** Decides when the next frame is drawn, from `start` to `stop`. */
export class FrameClock {
  private isStarted = false;
  private lastFrameAt = Number.NEGATIVE_INFINITY;
  private nextFrame: Timer | undefined;
  private settling: Timer | undefined;
  private resizes = 0;
  private resizingSince = 0;

  /** Frames are being drawn. */
  get isRunning(): boolean {
    return this.isStarted;
  }

  /** The size has just changed, and may change again: no frame is to be drawn. */
  get isSettling(): boolean {
    return this.settling !== undefined;
  }

  /** How often the size has changed since the last frame. */
  get resizeCount(): number {
    return this.resizes;
  }

  start(): void {
    this.isStarted = true;
  }

  /** Calls `draw` at once, or when the last frame is long enough ago, unless it is going to be called by then anyway. */
  request(draw: () => void): void {
    const waitMs = this.lastFrameAt + FRAME_MS - performance.now();
    if (waitMs <= 0) draw();
    else this.nextFrame ??= setTimeout(draw, waitMs);
  }

  /** Notes that the size has changed, while frames are drawn. Calls `draw` when it has settled. */
  noteResize(draw: () => void, { quietMs, longestMs }: Settling): void {
    if (!this.isStarted) return;
    const now = performance.now();
    this.resizes++;
    if (this.resizes === 1) this.resizingSince = now;
    this.endSettling();
    const waitMs = Math.max(0, Math.min(quietMs, this.resizingSince + longestMs - now));
    this.settling = setTimeout(draw, waitMs);
  }

  endSettling(): void {
    clearTimeout(this.settling);
    this.settling = undefined;
  }

  /** A frame is being drawn. */
  noteFrame(): void {
    this.cancel();
    this.lastFrameAt = performance.now();
    this.resizes = 0;
  }

  /** Calls nobody any more. */
  stop(): void {
    this.isStarted = false;
    this.cancel();
  }

  private cancel(): void {
    clearTimeout(this.nextFrame);
    this.nextFrame = undefined;
    this.endSettling();
  }
}
