import { formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

export const HELP: SlashCommand = {
  name: "help",
  aliases: ["?"],
  description: "What can be typed here",
  isAlwaysPossible: true,
  run(_, { columns, commands, print }) {
    const rows = commands.map(({ name, aliases: [alias] = [], argumentHint = "", description }) => {
      const names = alias === undefined ? `/${name}` : `/${name}, /${alias}`;
      return [`${names} ${argumentHint}`.trimEnd(), description];
    });
    print([formatRows(rows, { columns: columns() }), "", ...ALSO].join("\n"));
  },
};

const ALSO = [
  "  @path attaches a file · !command runs one and tells the model",
  "  !!command keeps it to yourself · // sends a prompt that begins with a slash",
  "  Esc stops the model · /keys shows all keys",
];
