import { describeHalfMove } from "./describe-half-move.ts";
import type { Keeping } from "./keeping.ts";
import type { Recorder } from "./recorder.ts";
import type { NoticeSink } from "./types.ts";

/** What a user is told about the keeping of a project, each of it once. */
export class KeepingNotices {
  private notify: NoticeSink | undefined;
  private toldObstacle: string | undefined;
  private isDropTold = false;
  private isHalfTold = false;

  constructor(private readonly keeping: Keeping) {}

  /** Before a call runs. `notify` is also told what comes to light when it has ended. */
  tellBefore(recorder: Recorder | undefined, notify: NoticeSink): void {
    this.notify = notify;
    this.tellObstacle((obstacle) => `What is changed now cannot be taken back with undo: ${obstacle}.`);
    if (recorder?.halfMove !== undefined && !this.isHalfTold) {
      this.isHalfTold = true;
      notify("warning", "undo_cut_off", describeHalfMove(recorder.halfMove));
    }
    if (!recorder || recorder.droppedSessions === 0 || this.isDropTold) return;
    this.isDropTold = true;
    notify("info", "checkpoints_dropped", describeDropped(recorder.droppedSessions));
  }

  /** Once a call has ended. Where everything it did was noted down, what is in the way concerns the next call. */
  tellAfter(): void {
    if (this.keeping.isKeptSoFar) return;
    this.tellObstacle(
      (obstacle) =>
        `What the last call changed cannot be taken back with undo, or not all of it: ${obstacle}.`,
    );
  }

  private tellObstacle(describe: (obstacle: string) => string): void {
    const { obstacle } = this.keeping;
    if (obstacle === undefined || obstacle === this.toldObstacle) return;
    this.toldObstacle = obstacle;
    this.notify?.("warning", "no_undo", describe(obstacle));
  }
}

function describeDropped(sessions: number): string {
  const whose =
    sessions === 1
      ? "The checkpoints of one earlier session were"
      : `The checkpoints of ${sessions} earlier sessions were`;
  return `${whose} dropped, the oldest first, to make room for new ones.`;
}
