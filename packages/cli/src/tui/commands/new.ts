import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/new`: the model knows nothing of what was said before; the model and its effort stay. */
export const NEW: SlashCommand = {
  name: "new",
  aliases: ["clear"],
  description: "Begin a new session",
  async run(_, context) {
    const { session: before } = await context.session();
    before.flush();
    const isSaved = before.sessionPath !== undefined;
    await context.reopen({ how: "new" });
    note(context, `A new session.${isSaved ? " The one before is saved: /resume brings it back." : ""}`);
  },
};
