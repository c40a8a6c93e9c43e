import { keyTexts } from "../keys/key-texts.ts";
import { formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

/** `/help`: the commands there are here, and what else a line may begin with; without a screen, those that need none. */
export const HELP: SlashCommand = {
  name: "help",
  aliases: ["?"],
  description: "What can be typed here",
  isAlwaysPossible: true,
  run(_, { columns, commands, isPlain, keymap, print }) {
    const possible = commands.filter(({ needsScreen }) => !(isPlain && needsScreen));
    const rows = possible.map(({ name, aliases: [alias] = [], argumentHint = "", description }) => {
      const names = alias === undefined ? `/${name}` : `/${name}, /${alias}`;
      return [`${names} ${argumentHint}`.trimEnd(), description];
    });
    const head = ["What can be typed here", "", formatRows(rows, { columns: columns() }), ""];
    if (isPlain) return print([...head, ...BY_LINES].join("\n"));
    const stop = keyTexts(keymap, [["app.interrupt", "stops the model · "]]);
    print([...head, ...ALSO, `  ${stop}/keys shows all keys`].join("\n"));
  },
};

const ALSO = [
  "  @path attaches a file · !command runs one and tells the model",
  "  !!command keeps it to yourself · // sends a prompt that begins with a slash",
];

const BY_LINES = [
  "  A command that lists something numbers it; the number behind the command chooses.",
  "  !command runs one and tells the model, !!command keeps it to yourself.",
  "  // sends a prompt that begins with a slash. Ctrl+C stops the model; at the prompt, twice, it leaves.",
];
