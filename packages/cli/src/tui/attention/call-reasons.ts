import { formatDuration } from "../text/format-amount.ts";
import { isWorking, type View } from "../view.ts";

// A turn that took less was waited for.
const LONG_TURN_MS = 10_000;

/** Finds in a session's views what somebody who is away is to be called for. */
export class CallReasons {
  private workingSince: number | undefined;
  private isAsking = false;

  /** What has come up since the last view, in words behind the session's name. `now` is in milliseconds. */
  find(view: View, now: () => number): string[] {
    return [...this.findQuestion(view), ...this.findEnd(view, now)];
  }

  private findQuestion(view: View): string[] {
    const wasAsking = this.isAsking;
    this.isAsking = view.dialog?.type === "approval";
    return this.isAsking && !wasAsking ? ["waits for your answer"] : [];
  }

  private findEnd(view: View, now: () => number): string[] {
    const since = this.workingSince;
    if (isWorking(view)) {
      this.workingSince ??= now();
      return [];
    }
    this.workingSince = undefined;
    const durationMs = since === undefined ? 0 : now() - since;
    return durationMs >= LONG_TURN_MS ? [`done after ${formatDuration(durationMs)}`] : [];
  }
}
