import { note } from "./note.ts";
import type { SlashCommand } from "./types.ts";

export const TREE: SlashCommand = {
  name: "tree",
  aliases: ["branches", "rewind"],
  description: "All branches: go on from any message",
  async run(_, context) {
    const { treePicker } = await import("../pickers/tree.ts");
    const picker = await treePicker(context);
    if (picker) context.open(picker);
    else note(context, "Nothing was said in this session yet.");
  },
};
