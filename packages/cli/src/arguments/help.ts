import { isSubcommandName, SUBCOMMANDS } from "./command.ts";
import { AVAILABLE_FEATURES, type Feature } from "./features.ts";
import { OPTIONS, type Option, type OptionGroup, optionLabel } from "./option-table.ts";

const GROUPS: readonly (readonly [OptionGroup, string])[] = [
  ["run", "Options"],
  ["session", "Sessions"],
  ["other", "Other"],
];

// Wide enough for `--append-system-prompt TEXT`; the longest line then stays below 80 columns.
const LABEL_COLUMNS = 34;

/** The help page: one screen of 80 columns that lists what works. */
export function formatHelp(available: ReadonlySet<Feature> = AVAILABLE_FEATURES): string {
  const commands = Object.entries(SUBCOMMANDS).filter(
    ([name]) => isSubcommandName(name) && available.has(name),
  );
  return [
    formatLine("Usage: diligent [options] [prompt]", "a coding agent for the terminal"),
    ...commands.map(([name, about]) => formatLine(`       diligent ${name}`, about)),
    ...GROUPS.flatMap(([group, title]) => formatGroup(title, optionsOf(group, available))),
    "",
    "Examples:",
    '  diligent "why does the login test fail?"',
    '  diligent -p "fix the typo in config.ts"',
    '  git diff | diligent -p "review this change" --output-format json',
    "",
  ].join("\n");
}

function optionsOf(group: OptionGroup, available: ReadonlySet<Feature>): Option[] {
  return OPTIONS.filter(
    (option: Option) => option.group === group && (!option.feature || available.has(option.feature)),
  );
}

function formatGroup(title: string, options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  return ["", `${title}:`, ...options.map((option) => formatLine(formatLabel(option), option.help))];
}

function formatLine(label: string, explanation: string): string {
  return `${label.padEnd(LABEL_COLUMNS)} ${explanation}`;
}

function formatLabel(option: Option): string {
  const long = optionLabel(option);
  const name = long.startsWith("--") && option.alias ? `-${option.alias}, ${long}` : long;
  const indent = name.startsWith("--") ? "      " : "  ";
  const value = option.takes === "reference" ? ` [${option.value}]` : option.value ? ` ${option.value}` : "";
  return indent + name + value;
}
