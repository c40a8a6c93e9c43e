import { IdleCleanup } from "../idle-cleanup.ts";
import { SPINNER_MS } from "./parts/activity-line.ts";

/** What happens by itself: while something moves a frame is drawn for every step of it; after that, memory is cleaned up. */
export class Movement {
  private spinner: Timer | undefined;
  private readonly cleanup = new IdleCleanup();

  constructor(private readonly draw: () => void) {}

  /** Nothing moves while nothing happens. */
  update(isMoving: boolean): void {
    if (isMoving === (this.spinner !== undefined)) return;
    this.cleanup.noteMovement(isMoving);
    clearInterval(this.spinner);
    this.spinner = isMoving ? setInterval(this.draw, SPINNER_MS) : undefined;
  }

  stop(): void {
    clearInterval(this.spinner);
    this.cleanup.stop();
  }
}
