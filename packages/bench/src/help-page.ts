/** What there is to choose from, as a help page lists it. */
export interface NamedChoice {
  name: string;
  /** One line. */
  about: string;
}

/** What `--help` of one of these programs shows. */
export interface HelpPage {
  /** The ways to call it. */
  usage: readonly string[];
  choices: readonly NamedChoice[];
  /** What to know, a line each. */
  notes: readonly string[];
}

/** The help page of a command of this package, as text without a line feed at its end. */
export function formatHelpPage({ usage, choices, notes }: HelpPage): string {
  const width = Math.max(0, ...choices.map(({ name }) => name.length));
  const rows = choices.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  const parts = [usage, rows, notes].filter((lines) => lines.length > 0);
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}
