import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/history`: opens the list of earlier prompts; the chosen one is put into the editor. */
export const HISTORY: SlashCommand = {
  name: "history",
  description: "Search the prompts of all sessions",
  isAlwaysPossible: true,
  opensList: true,
  async run(_, context) {
    const { historyPicker } = await import("../pickers/history.ts");
    const picker = await historyPicker(context);
    if (picker) context.open(picker);
    else note(context, "No prompt was sent yet.");
  },
};
