import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/resume`: goes on in the session that is named as for `--resume`, or opens the list of this project's sessions. */
export const RESUME: SlashCommand = {
  name: "resume",
  aliases: ["sessions", "continue"],
  description: "Go on in an earlier session, or find one",
  argumentHint: "[REF]",
  opensList: true,
  async run(argument, context) {
    if (argument !== "") return context.reopen({ how: "continue", reference: argument });
    const { sessionsPicker } = await import("../pickers/sessions.ts");
    const picker = await sessionsPicker(context);
    if (picker) context.open(picker);
    else note(context, "There is no session in this project yet.");
  },
};
