import { note } from "./note.ts";
import type { SlashCommand } from "./types.ts";

export const DIFF: SlashCommand = {
  name: "diff",
  aliases: ["changes"],
  description: "What this session has edited",
  isAlwaysPossible: true,
  async run(_, context) {
    const { cwd, session } = await context.session();
    const { describeEdits } = await import("../describe-edits.ts");
    const { blocks, summary } = await describeEdits(session.branches.path, cwd);
    for (const block of blocks) context.show(block);
    note(context, summary);
  },
};
