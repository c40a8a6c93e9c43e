import type { ApprovalMode, CheckKind } from "@diligent/core/run";
import type { SubcommandName } from "./subcommands.ts";

export type { ApprovalMode };

/** Values of `--approval` and of the mode in `/permissions`; core defines their meaning. */
export const APPROVAL_MODES = [
  "ask",
  "accept-edits",
  "plan",
  "auto",
  "deny",
] as const satisfies readonly ApprovalMode[];

/** Values of `--require-evidence`. */
export const EVIDENCE_KINDS = ["tests", "types", "lint", "build"] as const satisfies readonly CheckKind[];

/** Values of `--output-format`; see `print/output.ts`. */
export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
/** One of `OUTPUT_FORMATS`. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Values of `--input-format`: the prompt as it is, or lines as `print/stream-input.ts` reads them. */
export const INPUT_FORMATS = ["text", "stream-json"] as const;
/** One of `INPUT_FORMATS`. */
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** Which earlier session a run continues; without `reference` the most recent one. */
export interface Resumption {
  how: "continue" | "fork";
  /** For a copy, `@` and the id or label of its last entry may follow. */
  reference?: string;
  /**
   * The word after an option such as `--continue`; only the session names tell whether it is one of them: see
   * `resolveResumption`.
   */
  word?: { text: string; option: string };
  /** Without a reference the user chooses from the list, if there is a terminal. */
  opensList?: true;
}

/** The options of every run, validated. Omitted ones are absent, so their users apply the defaults. */
export interface RunCommandOptions {
  model?: string;
  approval?: ApprovalMode;
  maxTurns?: number;
  /** US dollars. */
  maxCost?: number;
  outputFormat?: OutputFormat;
  inputFormat?: InputFormat;
  /** File with the JSON Schema of the answer, as given. */
  jsonSchema?: string;
  /** Lists of tools, as given. */
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  /** Shell command that answers requests for approval. */
  permissionPrompt?: string;
  /** As given: relative to the working directory. */
  addedDirectories?: readonly string[];
  /** Checks that the run has to show. */
  requiredEvidence?: readonly CheckKind[];
  /** What sandboxed commands reach, as given. */
  network?: string;
  /** Lists of the only hosts that anything may connect to, as given. */
  onlyHosts?: readonly string[];
  appendSystemPrompt?: string;
  /** As given: relative to the working directory. */
  directory?: string;
  /** Run in a git worktree of its own; without a name in a new one. */
  worktree?: { name?: string };
  /** File to record the model's replies to, as given, relative to the directory. */
  record?: string;
  isSaved: boolean;
  isVerbose: boolean;
  /** Plain lines instead of the screen. */
  isPlain?: boolean;
}

/** A conversation, in print mode or interactive; that also depends on the terminal. */
export interface RunCommand {
  kind: "run";
  /** `-p` was given. */
  isPrint: boolean;
  /** The positional arguments, joined, without `resumption.word`; undefined if there are none. */
  prompt?: string;
  /** The prompt is a single word that could be a mistyped command: in a terminal it is confirmed before it is sent. */
  isBareWord?: true;
  resumption?: Resumption;
  options: RunCommandOptions;
}

/** A subcommand; it parses and validates its own arguments. */
export interface SubcommandCall {
  kind: "subcommand";
  name: SubcommandName;
  /** The arguments after its name. */
  rest: readonly string[];
  /** `-C` given before its name, the only option that all subcommands take. */
  directory?: string;
}

/** What a command line asks for. */
export type Command =
  | RunCommand
  | SubcommandCall
  | { kind: "list"; isJson: boolean; options: RunCommandOptions }
  /** `about`: help for that subcommand. */
  | { kind: "help"; about?: SubcommandName }
  | { kind: "version" };

/**
 * True for a number of `--list` (1 to 3 digits) and for a session id or id prefix; `@` and the id or label of an entry may
 * follow.
 */
export function isSessionReference(word: string): boolean {
  return /^([0-9]{1,3}|[0-9]{8,14}(-[0-9a-f]*)?)(@[^\s@]+)?$/.test(word);
}
