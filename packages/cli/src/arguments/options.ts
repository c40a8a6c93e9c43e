import { APPROVAL_MODES, INPUT_FORMATS, OUTPUT_FORMATS } from "./command.ts";

/** The heading of the help page that lists an option. */
export type OptionGroup = "run" | "session" | "other";

interface OptionRow {
  name: string;
  alias?: string;
  /** The value's placeholder in help; absent for an option without a value. */
  value?: string;
  /** The allowed values; absent if any value is allowed. */
  choices?: readonly string[];
  /** What a shell can complete the value with. */
  completes?: "file" | "directory" | "model";
  /**
   * The value may be left out. `reference`: the next word is the value only if it looks like a session; see
   * `isSessionReference`. `name`: only if it is a single word.
   */
  takes?: "reference" | "name";
  /** It may be given several times, and every value counts. */
  isRepeatable?: true;
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
    help: "ask, accept-edits, plan, auto or deny",
  },
  { name: "network", value: "HOSTS", group: "run", help: "off, on, packages or HOST,… for commands" },
  {
    name: "only-host",
    value: "HOST,…",
    isRepeatable: true,
    group: "run",
    help: "connect to no other host, for models either",
  },
  { name: "max-turns", value: "N", group: "run", help: "stop after N replies of the model" },
  { name: "max-cost", value: "USD", group: "run", help: "stop once this much was spent" },
  {
    name: "require-evidence",
    value: "KIND,…",
    group: "run",
    help: "tests, types, lint, build; else exit 5",
  },
  {
    name: "output-format",
    value: "FORMAT",
    choices: OUTPUT_FORMATS,
    group: "run",
    help: "text, json or stream-json (with -p)",
  },
  {
    name: "input-format",
    value: "FORMAT",
    choices: INPUT_FORMATS,
    group: "run",
    help: "text, or stream-json: prompts as JSON lines",
  },
  {
    name: "json-schema",
    value: "FILE",
    completes: "file",
    group: "run",
    help: "answer with JSON that matches FILE",
  },
  {
    name: "allowed-tools",
    value: "TOOLS",
    isRepeatable: true,
    group: "run",
    help: 'ask nothing for these: edit,"bash(git *)"',
  },
  { name: "disallowed-tools", value: "TOOLS", isRepeatable: true, group: "run", help: "do not use these" },
  { name: "permission-prompt", value: "COMMAND", group: "run", help: "ask COMMAND for approvals" },
  {
    name: "add-dir",
    value: "DIR",
    completes: "directory",
    isRepeatable: true,
    group: "run",
    help: "also work on files in DIR",
  },
  { name: "append-system-prompt", value: "TEXT", group: "run", help: "append to the system prompt" },
  { name: "no-session", group: "run", help: "write nothing to disk" },
  { name: "directory", alias: "C", value: "DIR", completes: "directory", group: "run", help: "run in DIR" },
  { name: "plain-ui", group: "run", help: "plain lines, for screen readers" },
  { name: "verbose", group: "run", help: "log every request and answer to a file" },
  {
    name: "record",
    value: "FILE",
    completes: "file",
    group: "run",
    help: "save the model's replies as a script",
  },
  {
    name: "replay",
    value: "FILE",
    completes: "file",
    group: "run",
    help: "replay a script instead of a model",
  },
  {
    name: "continue",
    alias: "c",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "continue the last session, or REF",
  },
  {
    name: "resume",
    alias: "r",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "the same; without REF, choose from the list",
  },
  {
    name: "fork",
    value: "REF",
    takes: "reference",
    group: "session",
    help: "fork a session; REF@ENTRY: up to there",
  },
  {
    name: "worktree",
    alias: "w",
    value: "NAME",
    takes: "name",
    group: "session",
    help: "in a git worktree of its own",
  },
  { name: "list", alias: "l", group: "session", help: "list this project's sessions" },
  { name: "json", group: "session", help: "with --list: as JSON" },
  { name: "version", alias: "v", group: "other", help: "print the version" },
  { name: "help", alias: "h", group: "other", help: "print this help" },
] as const satisfies readonly OptionRow[];

/** The name after the dashes; `directory` for `-C`, which has no long form. */
export type OptionName = (typeof OPTIONS)[number]["name"];

/** One option as defined in the table. */
export interface Option extends OptionRow {
  name: OptionName;
}

// `-C` has no long form to guess or document.
const SHORT_ONLY: ReadonlySet<OptionName> = new Set<OptionName>(["directory"]);

/** `name` has no dashes; `-C` has no long form, so it is never found. */
export function findLongOption(name: string): Option | undefined {
  return OPTIONS.find((option) => option.name === name && !SHORT_ONLY.has(option.name));
}

/** `alias` is one letter, case-sensitive. */
export function findShortOption(alias: string): Option | undefined {
  return OPTIONS.find((option: Option) => option.alias === alias);
}

/** The option as shown to users: `--model`, or `-C`, which has no long form. */
export function optionLabel(option: Option): string {
  return SHORT_ONLY.has(option.name) ? `-${option.alias}` : `--${option.name}`;
}

/** All spellings of an option. */
export function optionSpellings(): string[] {
  return OPTIONS.flatMap((option: Option) => [
    optionLabel(option),
    ...(option.alias ? [`-${option.alias}`] : []),
  ]);
}
