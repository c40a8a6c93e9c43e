import { EXPORT_FORMATS } from "../export-format.ts";

/** An option of a subcommand. */
export interface SubcommandOption {
  name: string;
  alias?: string;
  /** The value's placeholder in help; an option without it takes none. */
  value?: string;
  /** The values there are; left out where any is taken. */
  choices?: readonly string[];
  /** What a shell may complete the value with. */
  completes?: "file" | "model" | "session";
  help: string;
}

/** What the help page of a subcommand, the shells' completions and the reader of its arguments know of it. */
export interface SubcommandPage {
  /** What it is for, in the few words that the program's own help page has room for. */
  about: string;
  /** What it is for, in a line. */
  title: string;
  /** The ways to call it, without `diligent` and its name, and what each does. */
  usage: readonly (readonly [call: string, explanation: string])[];
  /** The words that may come first. */
  words?: readonly string[];
  /** The words directly behind which a session is named: its own name, or some of `words`. */
  sessionBehind?: readonly string[];
  options: readonly SubcommandOption[];
  /** Paragraphs. */
  notes: readonly string[];
  /** It works in a project, which `-C DIR` before its name may choose. */
  isOfProject: boolean;
}

const JSON_OPTION = { name: "json", help: "print JSON, for programs" };
const YES_OPTION = { name: "yes", help: "do not ask" };

const REF = "REF is a number of the list, an id, or the beginning of one.";

const PAGES = {
  demo: {
    about: "see it mend a bug, without a key",
    title: "see it mend a bug, without a key and without network",
    usage: [["", "mend the bug in a sample project, on the screen where there is a terminal"]],
    options: [{ name: "plain-ui", help: "in lines, without a screen" }],
    notes: [
      "A script plays the model; everything else is real: the loop, the tools, the session file. It works on a small project in a new temporary directory, which stays there afterwards. Exit code 0 means that the tests of the project passed.",
    ],
    isOfProject: false,
  },
  sessions: {
    about: "find, name and delete sessions",
    title: "find, show, name and delete this project's sessions",
    usage: [
      ["[list]", "the same as diligent --list"],
      ["show REF", "the conversation as the model sees it when it goes on"],
      ["show REF --full", "every entry of it, what was summarised or shortened included"],
      ["compact REF [FOCUS]", "summarise its older part now; FOCUS says what matters"],
      ["name REF NEW NAME", "a name for the list"],
      ["rm REF", "delete its file; asks first"],
    ],
    words: ["list", "show", "compact", "name", "rm"],
    sessionBehind: ["show", "compact", "name", "rm"],
    options: [
      { name: "full", help: "with show: nothing left out" },
      JSON_OPTION,
      { name: "model", alias: "m", value: "MODEL", completes: "model", help: "with compact: who summarises" },
      YES_OPTION,
    ],
    notes: [REF],
    isOfProject: true,
  },
  undo: {
    about: "take back what a prompt changed in files",
    title: "take back what the last prompt of a session has changed in the project",
    usage: [
      ["", "in the session that has changed something last; again: the prompt before"],
      ["--redo", "bring back what was taken back last"],
    ],
    options: [
      { name: "session", alias: "s", value: "REF", completes: "session", help: "in this session" },
      { name: "redo", help: "bring it back" },
      { name: "cut-off", help: "take back the last turn that was cut off, as far as it may be its work" },
      { name: "dry-run", help: "only say what would be done" },
      { name: "yes", help: "with --cut-off: do not ask" },
      JSON_OPTION,
    ],
    notes: [
      `${REF} In a session the same is /undo (/undo cut-off) and /redo.`,
      "Everything in the project comes back, whatever has changed it: content, permissions, links, empty directories, what git does not know. What has changed since is left as it is and said; then the exit code is 1. What others change while a command runs counts as its work. A turn that was killed is taken back only with --cut-off, which asks first, and of that only what was changed before its last sign of life. Ctrl+C puts everything back as it was. Never touched are .git and .diligent: a commit stays, and that something changed there is said. Not kept, but named where they have changed, are files above 50 MB and directories such as node_modules, of which nobody looks deeper than the first level.",
      "Kept are 2 GB in all, in ~/.local/state/diligent/checkpoints; the oldest sessions go first. Nothing is kept with --no-session, in your home directory, and in projects of more than 200,000 files or 1 GB.",
    ],
    isOfProject: true,
  },
  config: {
    about: "the configuration and where it is from",
    title: "the configuration that holds here, and where each value comes from",
    usage: [
      ["", "every setting with its source; keys are masked"],
      ["--schema", "the JSON Schema of diligent.jsonc, for editors"],
    ],
    options: [JSON_OPTION, { name: "schema", help: "print the JSON Schema" }],
    notes: ["Later wins: your own file, the project's, environment and command line."],
    isOfProject: true,
  },
  trust: {
    about: "let the project's configuration act",
    title: "let this project's configuration take effect",
    usage: [["", "shows what would become active, then asks"]],
    options: [YES_OPTION],
    notes: [
      "Trust holds for this exact directory and this exact content: a file that changes is asked about again.",
    ],
    isOfProject: true,
  },
  untrust: {
    about: "take that back",
    title: "take back the trust in this project's configuration",
    usage: [["", "from the next start on it is ignored again"]],
    options: [],
    notes: [],
    isOfProject: true,
  },
  knowledge: {
    about: "what was learned about this project",
    title: "what was learned about this project, and is told to the model",
    usage: [
      ["[list]", "what counts most comes first"],
      ["show ID", "all of it, and what it has replaced"],
      ["rm ID...", "take it away, with what it has replaced"],
      ["prune", "take away what was replaced, and what has faded"],
    ],
    words: ["list", "show", "rm", "prune"],
    options: [JSON_OPTION, { name: "dry-run", help: "with prune: only say what would go" }],
    notes: [
      "ID is an id of the list, or the beginning of one. What counts is confidence, halved every 30 days, times 1.5 for corrections, 1.3 for preferences, 0.8 for discoveries. Below 0.05 it has faded: a pattern recorded with the usual confidence of 0.8 after four months. The file .diligent/knowledge/knowledge.jsonl is only ever appended to: what is taken away stays in it and is no longer told.",
    ],
    isOfProject: true,
  },
  models: {
    about: "list the models",
    title: "the models that can be named with --model or in the configuration",
    usage: [["", "a table, grouped by provider"]],
    options: [{ ...JSON_OPTION, help: "print JSON, for programs; null is unknown" }],
    notes: [
      'Beside these, any id works that begins with claude-, gpt- or o and a digit, and any NAME/MODEL of a server in provider.compatible. "models" in the configuration adds and corrects models.',
    ],
    isOfProject: true,
  },
  export: {
    about: "write a session as a document",
    title: "write a session as a document",
    usage: [["[REF]", "the session REF, or the last one, on stdout"]],
    sessionBehind: ["export"],
    options: [
      {
        name: "format",
        alias: "f",
        value: "FORMAT",
        choices: EXPORT_FORMATS,
        help: "md for people, jsonl: a session file. Default: what FILE ends in, else md",
      },
      { name: "output", alias: "o", value: "FILE", completes: "file", help: "into a new file, mode 0600" },
    ],
    notes: [`${REF} A file that is there already is not overwritten.`],
    isOfProject: true,
  },
  doctor: {
    about: "check this machine",
    title: "check whether diligent can work on this machine and in this project",
    usage: [["", "a line for each check, and what to do about it"]],
    options: [
      {
        name: "model",
        alias: "m",
        value: "MODEL",
        completes: "model",
        help: "look at this model's provider",
      },
      { name: "offline", help: "connect to nothing" },
      JSON_OPTION,
    ],
    notes: [
      "Looked at are the versions, the configuration, the key of the model's provider (whether there is one), its address (one request without content and without key, and no other address but that of updates, where one is set), ripgrep, the sandbox, the terminal, and the disk. Nothing is kept: what the sandbox is tried with, in the directory for temporary files, goes again. Exit code 1: something is wrong that diligent needs.",
    ],
    isOfProject: true,
  },
  completions: {
    about: "completions for your shell",
    title: "completions for your shell",
    usage: [["bash|zsh|fish", "a script for that shell, on stdout"]],
    words: ["bash", "zsh", "fish"],
    options: [],
    notes: [
      'bash: in ~/.bashrc, eval "$(diligent completions bash)"',
      'zsh: in ~/.zshrc after compinit, eval "$(diligent completions zsh)"',
      "fish: diligent completions fish > ~/.config/fish/completions/diligent.fish",
    ],
    isOfProject: false,
  },
} as const satisfies Readonly<Record<string, SubcommandPage>>;

/** A word that is a subcommand where it comes first. */
export type SubcommandName = keyof typeof PAGES;

type NameWithWords = "sessions" | "knowledge" | "completions";

/** The words that may come first behind a subcommand's name, for those that have any. */
export type SubcommandWord<Name extends NameWithWords> = (typeof PAGES)[Name]["words"][number];

/** The subcommands, in the order of the help page. */
export const SUBCOMMAND_PAGES: Readonly<Record<SubcommandName, SubcommandPage>> = PAGES;

/** True for the whole name only; no abbreviations. */
export function isSubcommandName(word: string): word is SubcommandName {
  return Object.hasOwn(PAGES, word);
}

/** False for every word where the subcommand takes none. */
export function isSubcommandWord<Name extends NameWithWords>(
  name: Name,
  word: string,
): word is SubcommandWord<Name> {
  return SUBCOMMAND_PAGES[name].words?.includes(word) ?? false;
}
