import { SUBCOMMAND_PAGES, type SubcommandName, type SubcommandOption } from "./subcommand-table.ts";

const COLUMNS = 79;
const INDENT = "  ";

/** True where the words behind a subcommand's name ask for its help page. */
export function asksForHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf("--");
  return rest.slice(0, end < 0 ? undefined : end).some((word) => word === "--help" || word === "-h");
}

/** The help page of a subcommand, of 80 columns: what it is for, how it is called, its options, what to know. */
export function formatSubcommandHelp(name: SubcommandName): string {
  const { title, usage, options, notes, isOfProject } = SUBCOMMAND_PAGES[name];
  const place = isOfProject ? " [-C DIR]" : "";
  const calls = usage.map(
    ([call, explanation]) => [`diligent ${name} ${call}`.trimEnd(), explanation] as const,
  );
  const rows = [...options.map(toRow), ["-h, --help", "print this page"] as const];
  const parts = [
    wrap(`diligent ${name}: ${title}`),
    `Usage: diligent${place} ${name}${usageOf(name)}`,
    formatHelpRows(calls).join("\n"),
    ["Options:", ...formatHelpRows(rows)].join("\n"),
    ...(isOfProject ? [wrap("-C DIR, before the name, means the project in DIR.")] : []),
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
