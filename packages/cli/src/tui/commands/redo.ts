import type { SlashCommand } from "./types.ts";
import { moveFiles } from "./undo.ts";

/** `/redo`: a step forward where `/undo` went back, until a turn changes files again. */
export const REDO: SlashCommand = {
  name: "redo",
  description: "Bring back what /undo took back",
  run: (_, context) => moveFiles("redo", context),
};
