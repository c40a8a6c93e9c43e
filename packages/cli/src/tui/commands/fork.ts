import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/fork`: what is said from here on goes into a file of its own. */
export const FORK: SlashCommand = {
  name: "fork",
  description: "Go on in a copy of this session",
  async run(_, context) {
    const { session: before } = await context.session();
    if (before.leafId === null) return note(context, "Nothing was said in this session yet.");
    await context.reopen({ how: "fork" });
    const { session } = await context.session();
    note(context, `This is ${session.sessionId} now, a copy of ${before.sessionId}, which stays as it is.`);
  },
};
