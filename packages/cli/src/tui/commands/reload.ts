import { note } from "./note.ts";
import type { SlashCommand } from "./types.ts";

export const RELOAD: SlashCommand = {
  name: "reload",
  description: "Read configuration, instructions, knowledge anew",
  async run(_, context) {
    await context.reopen({ how: "reload" });
    note(context, "Configuration, instructions and knowledge were read anew. The conversation is the same.");
  },
};
