import { toSingleLine } from "../../terminal-text.ts";
import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

const MAX_SHOWN_COLUMNS = 60;
const MAX_NAME_CHARACTERS = 200;

/** `/name`: names the session, in one line of 200 characters at most; without a text it tells the name. */
export const NAME: SlashCommand = {
  name: "name",
  aliases: ["rename"],
  description: "Give this session a name for lists",
  argumentHint: "TEXT",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { session } = await context.session();
    const name = argument.replace(/\s+/g, " ").slice(0, MAX_NAME_CHARACTERS).toWellFormed();
    if (name !== "") session.rename(name);
    const { name: given } = session.branches;
    if (given === undefined) note(context, "This session has no name; /name TEXT gives it one.");
    else note(context, `This session is called ${toSingleLine(given, MAX_SHOWN_COLUMNS)}.`);
  },
};
