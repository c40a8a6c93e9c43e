import { OPTIONS, type Option, optionLabel } from "../../arguments/option-table.ts";
import { SUBCOMMAND_PAGES } from "../../arguments/subcommand-table.ts";

/** An option as a shell completes it. */
export interface CompletedOption {
  /** With their dashes, the short one first. */
  spellings: string[];
  help: string;
  /** What may follow as its value; undefined for an option that takes none. */
  value?: {
    placeholder: string;
    isOptional: boolean;
    from: readonly string[] | "file" | "directory" | "session" | "any";
  };
}

/** A subcommand as shells complete it; `help` is one line. */
export interface CompletedCommand {
  name: string;
  help: string;
  /** The words that may come first behind it. */
  words: readonly string[];
  /** The words directly behind which a session is named; its own name may be one. */
  sessionBehind: readonly string[];
  options: CompletedOption[];
}

/** Everything that a shell can complete, from the tables that parse a command line and that help is made of. */
export interface Vocabulary {
  options: CompletedOption[];
  commands: CompletedCommand[];
}

interface Row {
  name: string;
  alias?: string;
  value?: string;
  takes?: "reference";
  choices?: readonly string[];
  completes?: "file" | "directory" | "model" | "session";
  help: string;
}

const HELP_ROW: Row = { name: "help", alias: "h", help: "print the help page" };

/** @param models the ids and aliases that are offered where a model is asked for. */
export function createVocabulary(models: readonly string[]): Vocabulary {
  const commands = Object.entries(SUBCOMMAND_PAGES).map(
    ([name, { about, words = [], sessionBehind = [], options }]) => ({
      name,
      help: about,
      words,
      sessionBehind,
      options: [...options, HELP_ROW].map((row) => complete(row, models)),
    }),
  );
  return {
    options: OPTIONS.map((option: Option) => ({
      ...complete(option, models),
      spellings: spellingsOf(optionLabel(option), option.alias),
    })),
    commands,
  };
}

/**
 * The options that take the word behind them, those of the commands included, but for `-C`: it alone may stand in front of
 * a command. One whose value may be left out does not take the next word in any case.
 */
export function valuedSpellings({ options, commands }: Vocabulary): string[] {
  const all = [...options, ...commands.flatMap((command) => command.options)];
  const spellings = all.flatMap((option) =>
    option.value && !option.value.isOptional ? option.spellings : [],
  );
  return [...new Set(spellings)].filter((spelling) => spelling !== "-C");
}

function complete(row: Row, models: readonly string[]): CompletedOption {
  const { name, alias, value, takes, choices, completes, help } = row;
  const spellings = spellingsOf(`--${name}`, alias);
  if (value === undefined) return { spellings, help };
  const isReference = takes === "reference";
  const what = isReference ? "session" : (completes ?? "any");
  const from = choices ?? (what === "model" ? models : what);
  return { spellings, help, value: { placeholder: value, isOptional: isReference, from } };
}

function spellingsOf(label: string, alias: string | undefined): string[] {
  const short = alias === undefined ? [] : [`-${alias}`];
  return [...new Set([...short, label])];
}
