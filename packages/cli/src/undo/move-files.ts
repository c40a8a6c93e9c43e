import type { ProjectSession, UndoOptions } from "@diligent/core/harness";
import type { Restoration } from "@diligent/core/light";
import { describeForModel, describeNothing, describeRestoration } from "./describe.ts";

type OpenedFiles = Pick<ProjectSession, "checkpoints" | "session">;

/**
 * Undoes or redoes the last prompt's changes, and notifies the model with the next prompt. Returns the result
 * as lines for the user.
 * @throws Error if it is impossible now.
 */
export async function moveFiles(
  move: "undo" | "redo",
  opened: OpenedFiles,
  options: UndoOptions = {},
): Promise<string[]> {
  const restoration = await opened.checkpoints[move](options);
  if (restoration) await notifyModel(restoration, opened);
  return describeMoved(move, restoration, opened);
}

/** The result as lines for the user. @param restoration undefined if there was nothing to do. */
export function describeMoved(
  move: "undo" | "redo",
  restoration: Restoration | undefined,
  { checkpoints }: Pick<ProjectSession, "checkpoints">,
): string[] {
  if (!restoration) return [describeNothing(move, checkpoints.reason)];
  return describeRestoration(restoration, "/undo cut-off");
}

async function notifyModel(
  restoration: Restoration,
  { session }: Pick<ProjectSession, "session">,
): Promise<void> {
  const message = describeForModel(restoration);
  if (message !== undefined) await session.notify(message);
}
