import type { SubcommandName } from "./subcommand-table.ts";

/** The values of `--approval`; what each of them means is the core's to say. */
export const APPROVAL_MODES = ["auto", "ask", "deny", "plan"] as const;
/** One of `APPROVAL_MODES`. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** The values of `--output-format`; `output/` has a file for each of them. */
export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
/** One of `OUTPUT_FORMATS`. */
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
  /** Where the model's replies are kept as a script; as given, relative to the directory. */
  record?: string;
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

/** A subcommand; what follows its name is for the subcommand itself to read and to refuse. */
export interface SubcommandCall {
  kind: "subcommand";
  name: SubcommandName;
  /** What follows its name. */
  rest: readonly string[];
  /** As given with `-C` before its name, the one option that goes with all of them. */
  directory?: string;
}

/** What a command line asks for. */
export type Command =
  | RunCommand
  | SubcommandCall
  | { kind: "list"; isJson: boolean; options: RunOptions }
  | { kind: "help" }
  | { kind: "version" };
