import type { Restoration } from "@diligent/core/light";
import type { MoveControl, UndoOptions } from "./session-checkpoints.ts";

/** What would be taken back of a turn that was cut off, and what is to be done now. */
export interface CutOffPlan {
  /**
   * `ask`: files would be changed, and which is a guess: nobody's are before they have seen them. `goOn`: no file would be
   * changed, and the turn counts as answered once that is noted down. `stop`: there is nothing to do, or it is not wanted.
   */
  next: "ask" | "goOn" | "stop";
  /** Undefined where there is no such turn. */
  planned: Restoration | undefined;
}

/** @throws what `undo` throws. */
export async function planCutOff(
  undo: (options: UndoOptions) => Promise<Restoration | undefined>,
  control: MoveControl,
): Promise<CutOffPlan> {
  const planned = await undo({ ...control, isCutOff: true, isDryRun: true });
  if (!planned || planned.isStopped) return { next: "stop", planned };
  // Stopped at the very end, it is stopped all the same.
  if (control.signal?.aborted) return { next: "stop", planned: toStopped(planned) };
  return { next: planned.restored.length > 0 ? "ask" : "goOn", planned };
}

function toStopped({ move }: Restoration): Restoration {
  const nothing = { restored: [], conflicts: [], notKept: [], failures: [] };
  return { move, ...nothing, wasCutOff: false, isStopped: true, isDryRun: false };
}
