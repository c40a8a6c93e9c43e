import type { SlashCommand } from "./types.ts";
import { moveFiles } from "./undo.ts";

export const REDO: SlashCommand = {
  name: "redo",
  description: "Bring back what /undo took back",
  run: (_, context) => moveFiles("redo", context),
};
