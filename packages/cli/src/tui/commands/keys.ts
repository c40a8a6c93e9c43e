import { type DescribedKeys, describeKeys } from "../keys/describe-keys.ts";
import { nameForPeople } from "../keys/name-for-people.ts";
import { formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

/** `/keys`: as they are bound now, in groups; with `names` all actions by the ids that `keybindings.json` uses. */
export const KEYS: SlashCommand = {
  name: "keys",
  aliases: ["hotkeys", "keybindings"],
  description: "All keys; with names, what to rebind them by",
  argumentHint: "[names]",
  isAlwaysPossible: true,
  run(argument, { columns, editorKeys, isPlain, keymap, print }) {
    if (isPlain) return print(BY_LINES);
    const described = describeKeys(keymap, editorKeys);
    const format = (rows: readonly string[][]) => formatRows(rows, { columns: columns() });
    if (argument === "names") return print([format(described.map(toNamedRow)), "", HINT].join("\n"));
    const groups = GROUPS.map(({ title, prefix }) => {
      const own = described.filter(({ action, keys }) => action.startsWith(prefix) && keys.length > 0);
      return `${title}\n${format(own.map(({ keys, label }) => [showKeys(keys), label]))}`;
    });
    print(groups.join("\n\n"));
  },
  complete: (prefix) => ["names"].filter((name) => name.startsWith(prefix)),
};

interface Group {
  title: string;
  prefix: string;
}

const GROUPS: readonly Group[] = [
  { title: "Everywhere", prefix: "app." },
  { title: "Writing a prompt", prefix: "tui." },
  { title: "Answering a question", prefix: "approval." },
  { title: "In a list", prefix: "list." },
];

const BY_LINES =
  "Enter sends a line. Ctrl+C stops the model; at the prompt, twice, it leaves, as Ctrl+D does.";

const HINT = "  keybindings.json in your configuration directory rebinds them by these names.";

function toNamedRow({ action, keys }: DescribedKeys): string[] {
  return [action, keys.length === 0 ? "(none)" : showKeys(keys)];
}

function showKeys(keys: readonly string[]): string {
  return keys.map(nameForPeople).join(", ");
}
