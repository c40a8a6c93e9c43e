import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/knowledge`: opens the list of what is kept about this project, or says that there is nothing. */
export const KNOWLEDGE: SlashCommand = {
  name: "knowledge",
  aliases: ["memory"],
  description: "What was learned here: read, forget, correct",
  isAlwaysPossible: true,
  opensList: true,
  async run(_, context) {
    const { knowledgePicker } = await import("../pickers/knowledge.ts");
    const picker = await knowledgePicker(context);
    if (picker) context.open(picker);
    else note(context, "Nothing was learned about this project yet.");
  },
};
