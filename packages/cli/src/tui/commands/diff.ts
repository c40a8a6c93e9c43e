import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/diff`: by what was kept of the project before each turn; for all other files by the edits in the messages. */
export const DIFF: SlashCommand = {
  name: "diff",
  aliases: ["changes"],
  description: "What this session has changed",
  isAlwaysPossible: true,
  async run(_, context) {
    const { cwd, session, loaded, checkpoints } = await context.session();
    const [{ describeChanges }, changes] = await Promise.all([
      import("../diff/describe-changes.ts"),
      checkpoints.changes(),
    ]);
    const { describeEdits } = await import("../diff/describe-edits.ts");
    const root = loaded.projectRoot;
    // Outside of the project, and where nothing was kept, the messages tell what was edited.
    const edits = await describeEdits(session.branches.path, cwd, { outside: changes && root });
    const kept = changes && (await describeChanges(changes, { cwd, root }));
    for (const block of [...(kept?.blocks ?? []), ...edits.blocks]) context.show(block);
    if (kept) note(context, kept.summary);
    if (!kept || edits.blocks.length > 0) note(context, edits.summary);
  },
};
