import { OPTIONS, type Option, type OptionGroup, optionLabel } from "./options.ts";
import { SUBCOMMAND_PAGES, type SubcommandName, type SubcommandOption } from "./subcommands.ts";

const GROUPS: readonly (readonly [OptionGroup, string])[] = [
  ["run", "Options"],
  ["session", "Sessions"],
  ["other", "Other"],
];

// Fits `--append-system-prompt TEXT` while the longest line stays below 80 columns.
const LABEL_COLUMNS = 34;

/** The help page: one screen of 80 columns. */
export function formatHelp(): string {
  return [
    formatLine("Usage: diligent [options] [prompt]", "a coding agent for the terminal"),
    ...Object.entries(SUBCOMMAND_PAGES).map(([name, { about }]) =>
      formatLine(`       diligent ${name}`, about),
    ),
    formatLine("       diligent help COMMAND", "help for one command"),
    ...GROUPS.flatMap(([group, title]) => formatGroup(title, group)),
    'Examples: diligent "why does the login test fail?"',
    '          git diff | diligent -p "review this change" --output-format json',
    "Exit codes: 0 done, 1 failed, 2 usage, 3 limit, 4 approval, 5 evidence, 128+N",
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
  const value = option.takes ? ` [${option.value}]` : option.value ? ` ${option.value}` : "";
  return indent + name + value;
}

const COLUMNS = 79;
const INDENT = "  ";

/** True if the arguments of a subcommand ask for its help page. */
export function asksForHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf("--");
  return rest.slice(0, end < 0 ? undefined : end).some((word) => word === "--help" || word === "-h");
}

/** The help page of a subcommand, 80 columns wide: purpose, usage, options, notes. */
export function formatSubcommandHelp(name: SubcommandName): string {
  const { title, usage, options, notes, isOfProject } = SUBCOMMAND_PAGES[name];
  const place = isOfProject ? " [-C DIR]" : "";
  const calls = usage.map(
    ([call, explanation]) => [`diligent ${name} ${call}`.trimEnd(), explanation] as const,
  );
  const rows = [...options.map(toRow), ["-h, --help", "print this help"] as const];
  const parts = [
    wrap(`diligent ${name}: ${title}`),
    `Usage: diligent${place} ${name}${usageOf(name)}`,
    formatHelpRows(calls).join("\n"),
    ["Options:", ...formatHelpRows(rows)].join("\n"),
    ...(isOfProject ? [wrap("Put -C DIR before the command to use the project in DIR.")] : []),
    ...notes.map(wrap),
  ];
  return `${parts.join("\n\n")}\n`;
}

function usageOf(name: SubcommandName): string {
  const { usage, options } = SUBCOMMAND_PAGES[name];
  const takesWords = usage.some(([call]) => call !== "" && !call.startsWith("-"));
  return `${options.length > 0 ? " [options]" : ""}${takesWords ? " …" : ""}`;
}

function toRow({ name, alias, value, help }: SubcommandOption): readonly [string, string] {
  const short = alias ? `-${alias}, ` : "    ";
  return [`${short}--${name}${value ? ` ${value}` : ""}`, help];
}

function formatHelpRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.flatMap(([label, explanation]) => {
    const start = `${INDENT}${label.padEnd(width)}  `;
    const [first = "", ...more] = wrapWords(explanation, COLUMNS - start.length);
    return [start + first, ...more.map((line) => " ".repeat(start.length) + line)];
  });
}

function wrap(paragraph: string): string {
  return wrapWords(paragraph, COLUMNS).join("\n");
}

function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const joined = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && joined.length <= columns) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}
