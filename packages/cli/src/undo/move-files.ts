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
  if (restoration) await tellModel(restoration, opened);
  return describeMoved(move, restoration, opened);
}

/** In lines for a person. @param restoration undefined where there was nothing to do. */
export function describeMoved(
  move: "undo" | "redo",
  restoration: Restoration | undefined,
  { checkpoints }: Pick<OpenSession, "checkpoints">,
): string[] {
  if (!restoration) return [describeNothing(move, checkpoints.reason)];
  return describeRestoration(restoration, "/undo cut-off");
}

async function tellModel(restoration: Restoration, { session }: Pick<OpenSession, "session">): Promise<void> {
  const told = describeForModel(restoration);
  if (told !== undefined) await session.tell(told);
}
