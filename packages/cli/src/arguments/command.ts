import type { Feature } from "./features.ts";

export const APPROVAL_MODES = ["auto", "ask", "deny", "plan"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Which earlier session a run goes on with; without `reference` the most recent one. */
export interface Resumption {
  how: "continue" | "fork";
  reference?: string;
}

/** The options every run takes, checked. What was not given is left out, so that defaults stay with those who use them. */
export interface RunOptions {
  model?: string;
  approval?: ApprovalMode;
  maxTurns?: number;
  /** US dollars. */
  maxCost?: number;
  outputFormat?: OutputFormat;
  appendSystemPrompt?: string;
  /** As given: relative to the working directory. */
  directory?: string;
  isSaved: boolean;
  isVerbose: boolean;
  /** Lines instead of a screen. */
  isPlain?: boolean;
}

/** A conversation: in print mode or interactive, which also depends on the terminal. */
export interface RunCommand {
  kind: "run";
  /** `-p` was given. */
  isPrint: boolean;
  /** The words of the command line, joined; undefined without any. */
  prompt?: string;
  resumption?: Resumption;
  options: RunOptions;
}

export interface SubcommandCall {
  kind: "subcommand";
  name: SubcommandName;
  /** What follows its name. */
  rest: readonly string[];
  /** The options before its name. */
  options: RunOptions;
}

/** What a command line asks for. */
export type Command =
  | RunCommand
  | SubcommandCall
  | { kind: "list"; isJson: boolean; options: RunOptions }
  | { kind: "help" }
  | { kind: "version" };

/** The subcommands, in the order of the help page, with a line about each. */
export const SUBCOMMANDS = {
  demo: "see it mend a bug, without a key",
  sessions: "find, name and delete sessions",
  config: "the configuration and where it is from",
  trust: "let the project's configuration act",
  untrust: "take that back",
  knowledge: "what was learned about this project",
  models: "list the models",
  export: "write a session as a document",
  doctor: "check this machine",
  completions: "completions for your shell",
} as const satisfies Partial<Record<Feature, string>>;

export type SubcommandName = keyof typeof SUBCOMMANDS;

export function isSubcommandName(word: string): word is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, word);
}
