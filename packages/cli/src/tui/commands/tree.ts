import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/tree`: goes on behind the entry with this id at once, or opens the list of all of them. */
export const TREE: SlashCommand = {
  name: "tree",
  aliases: ["branches", "rewind"],
  description: "All branches: go on from any message",
  argumentHint: "[ID]",
  opensList: true,
  async run(argument, context) {
    const { goToPlace, treePicker } = await import("../pickers/tree.ts");
    if (argument !== "") return goToPlace(argument, context);
    const picker = await treePicker(context);
    if (picker) context.open(picker);
    else note(context, "Nothing was said in this session yet.");
  },
};
