import type { MoveProgress } from "@diligent/core/light";
import { now } from "@diligent/core/run";
import type { FileMove } from "../undo/describe-progress.ts";
import type { View } from "./view.ts";

// Who reads a number that changes reads no faster.
const PROGRESS_MS = 100;

/**
 * Shows that files are being moved from now on; what is returned shows how far it has come: at once where something else
 * begins, and from then on at intervals.
 */
export function showMove(
  move: FileMove,
  change: (change: (view: View) => View) => void,
): (progress: MoveProgress) => void {
  const since = now();
  const show = (progress?: MoveProgress) =>
    change((view) => ({ ...view, activity: { type: "files", since, move, progress } }));
  let shown: { at: number; doing: MoveProgress["doing"] } | undefined;
  show();
  return (progress) => {
    const { doing } = progress;
    if (shown?.doing === doing && now() - shown.at < PROGRESS_MS) return;
    shown = { at: now(), doing };
    show(progress);
  };
}
