import type { Restoration } from "@diligent/core/light";
import type { OpenSession } from "../open-session.ts";
import { describeForModel, describeNothing, describeRestoration } from "./describe-restoration.ts";
import type { UndoOptions } from "./session-checkpoints.ts";

type OpenedFiles = Pick<OpenSession, "checkpoints" | "session">;

/**
 * Takes back what the last prompt has changed, or brings it back, and lets the model know with the next prompt. Returns what
 * came of it in lines for a person.
 * @throws Error when it cannot be done now.
 */
export async function moveFiles(
  move: "undo" | "redo",
  opened: OpenedFiles,
  options: UndoOptions = {},
): Promise<string[]> {
  const restoration = await opened.checkpoints[move](options);
  if (!restoration) return [describeNothing(move, opened.checkpoints.reason)];
  await tellModel(restoration, opened);
  return describeRestoration(restoration, "/undo cut-off");
}

/** What would be taken back of a turn that was cut off. */
export interface CutOffPlan {
  /** For a person. */
  lines: string[];
  /** How many paths would be changed. */
  paths: number;
}

/**
 * What would be taken back of the turn that was cut off, to be asked about: it is a guess.
 * @throws as `moveFiles` does.
 */
export async function planCutOff(
  { checkpoints }: Pick<OpenSession, "checkpoints">,
  options: UndoOptions,
): Promise<CutOffPlan> {
  const planned = await checkpoints.undo({ ...options, isCutOff: true, isDryRun: true });
  if (!planned) return { lines: [describeNothing("undo", checkpoints.reason)], paths: 0 };
  return { lines: describeRestoration(planned), paths: planned.restored.length };
}

async function tellModel(restoration: Restoration, { session }: Pick<OpenSession, "session">): Promise<void> {
  const told = describeForModel(restoration);
  if (told !== undefined) await session.tell(told);
}
