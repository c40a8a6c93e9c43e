import { note } from "../note.ts";
import { notice } from "../view.ts";
import type { SlashCommand } from "./types.ts";

/** `/reload`: opens the same conversation anew. @throws UsageError where that fails; everything is as before then. */
export const RELOAD: SlashCommand = {
  name: "reload",
  description: "Read configuration, instructions, knowledge anew",
  async run(_, context) {
    await context.reopen({ how: "reload" });
    for (const problem of (await context.reloadKeys?.()) ?? []) context.show(notice("warning", problem));
    note(
      context,
      `Configuration, instructions${context.reloadKeys ? ", keys" : ""} and knowledge were read anew. The conversation is the same.`,
    );
  },
};
