import type { Restoration } from "@diligent/core/light";
import type { OpenSession } from "../open-session.ts";
import { describeForModel, describeNothing, describeRestoration } from "./describe-restoration.ts";
import type { UndoOptions } from "./session-checkpoints.ts";

/**
 * Takes back what the last prompt has changed, or brings it back, and lets the model know with the next prompt. Returns what
 * came of it in lines for a person.
 * @throws Error when it cannot be done now.
 */
export async function moveFiles(
  move: "undo" | "redo",
  opened: Pick<OpenSession, "checkpoints" | "session">,
  options: UndoOptions = {},
): Promise<string[]> {
  const restoration = await opened.checkpoints[move](options);
  if (!restoration) return [describeNothing(move, opened.checkpoints.reason)];
  await tellModel(restoration, opened);
  return describeRestoration(restoration, "/undo cut-off");
}

async function tellModel(restoration: Restoration, { session }: Pick<OpenSession, "session">): Promise<void> {
  const told = describeForModel(restoration);
  if (told !== undefined) await session.tell(told);
}
