import { APPROVAL_MODES, OUTPUT_FORMATS } from "./command.ts";

/** Under which heading of the help page an option stands. */
export type OptionGroup = "run" | "session" | "other";

interface OptionRow {
  name: string;
  alias?: string;
  /** The value's placeholder in help; an option without it takes none. */
  value?: string;
  /** The values there are; left out where any is taken. */
  choices?: readonly string[];
  /** What a shell may complete the value with. */
  completes?: "file" | "directory" | "model";
  /** `reference`: the next word is the value only if it looks like a session; see `isSessionReference`. */
  takes?: "reference";
  group: OptionGroup;
  help: string;
}

/** Every option of the program, in the order of the help page. */
export const OPTIONS = [
  { name: "print", alias: "p", group: "run", help: "answer once on stdout, without a screen" },
  {
    name: "model",
    alias: "m",
    value: "MODEL",
    completes: "model",
    group: "run",
    help: "an id, or an alias such as sonnet",
  },
  {
    name: "approval",
    value: "MODE",
    choices: APPROVAL_MODES,
    group: "run",
    help: "auto, ask, deny, or plan: reading only",
  },
  { name: "max-turns", value: "N", group: "run", help: "stop after N replies of the model" },
  { name: "max-cost", value: "USD", group: "run", help: "stop once that much was spent" },
  {
    name: "output-format",
    value: "FORMAT",
    choices: OUTPUT_FORMATS,
    group: "run",
    help: "text, json or stream-json (with -p)",
  },
  { name: "append-system-prompt", value: "TEXT", group: "run", help: "add to the instructions" },
  { name: "no-session", group: "run", help: "write nothing to disk" },
  { name: "directory", alias: "C", value: "DIR", completes: "directory", group: "run", help: "run in DIR" },
  { name: "plain-ui", group: "run", help: "plain lines, for screen readers" },
  { name: "verbose", group: "run", help: "log every request and answer to a file" },
  {
    name: "record",
    value: "FILE",
    completes: "file",
    group: "run",
    help: "keep the model's replies as a script",
  },
  {
    name: "replay",
    value: "FILE",
    completes: "file",
    group: "run",
    help: "play a script in the place of a model",
  },
  {
    name: "continue",
    alias: "c",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "go on with the last session, or with REF",
  },
  {
    name: "resume",
    alias: "r",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "the same as --continue",
  },
  {
    name: "fork",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "go on in a copy of a session",
  },
  { name: "list", alias: "l", group: "session", help: "list this project's sessions" },
  { name: "json", group: "session", help: "with --list: as JSON" },
  { name: "version", alias: "v", group: "other", help: "print the version" },
  { name: "help", alias: "h", group: "other", help: "print this page" },
] as const satisfies readonly OptionRow[];

/** The name behind the dashes; that of `-C`, which has no long form, is `directory`. */
export type OptionName = (typeof OPTIONS)[number]["name"];

/** One option as the table describes it. */
export interface Option extends OptionRow {
  name: OptionName;
}

// `-C` has no long form to be guessed or documented.
const SHORT_ONLY: ReadonlySet<OptionName> = new Set<OptionName>(["directory"]);

/** `name` is without its dashes; `-C` has no long form, so it is never found. */
export function findLongOption(name: string): Option | undefined {
  return OPTIONS.find((option) => option.name === name && !SHORT_ONLY.has(option.name));
}

/** `alias` is one letter, its case counts. */
export function findShortOption(alias: string): Option | undefined {
  return OPTIONS.find((option: Option) => option.alias === alias);
}

/** The name to call an option by: `--model`, or `-C` where there is no long form. */
export function optionLabel(option: Option): string {
  return SHORT_ONLY.has(option.name) ? `-${option.alias}` : `--${option.name}`;
}

/** All spellings an option can be given in. */
export function optionSpellings(): string[] {
  return OPTIONS.flatMap((option: Option) => [
    optionLabel(option),
    ...(option.alias ? [`-${option.alias}`] : []),
  ]);
}
