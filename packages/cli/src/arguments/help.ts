import { OPTIONS, type Option, type OptionGroup, optionLabel } from "./option-table.ts";
import { SUBCOMMAND_PAGES } from "./subcommand-table.ts";

const GROUPS: readonly (readonly [OptionGroup, string])[] = [
  ["run", "Options"],
  ["session", "Sessions"],
  ["other", "Other"],
];

// Wide enough for `--append-system-prompt TEXT`; the longest line then stays below 80 columns.
const LABEL_COLUMNS = 34;

/** The help page: one screen of 80 columns. */
export function formatHelp(): string {
  return [
    formatLine("Usage: diligent [options] [prompt]", "a coding agent for the terminal"),
    ...Object.entries(SUBCOMMAND_PAGES).map(([name, { about }]) =>
      formatLine(`       diligent ${name}`, about),
    ),
    ...GROUPS.flatMap(([group, title]) => formatGroup(title, group)),
    "",
    "Examples:",
    '  diligent "why does the login test fail?"',
    '  diligent -p "fix the typo in config.ts"',
    '  git diff | diligent -p "review this change" --output-format json',
    "",
    "Exit codes: 0 done, 1 failed, 2 bad usage, 3 limit, 4 approval, 128+N signal N",
    "",
  ].join("\n");
}

function formatGroup(title: string, group: OptionGroup): string[] {
  const options = OPTIONS.filter((option: Option) => option.group === group);
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
