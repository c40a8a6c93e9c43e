import type { CheckKind } from "../evidence/types.ts";

/** A sentence of an instruction file that tells how to work. */
export interface Sentence {
  /** Without emphasis; code keeps its backticks. */
  text: string;
  /** From 1. */
  line: number;
  /** The text that leads to it: the heading `Never`, or a line that ends in a colon. */
  lead?: string | undefined;
  /** The sentence before it in the same paragraph. */
  before?: string | undefined;
  /** True if it stands in a block quote. */
  isQuoted: boolean;
}

/**
 * Calls of a program that are refused: all words of `words` and, if there are any, one of `options`.
 */
export interface CommandPattern {
  /** The program's name and its first operands, options left out; empty: any program. */
  words: readonly string[];
  /** Options of which one must be given, such as `--force`; short ones are also found in `-fu`. */
  options?: readonly string[] | undefined;
  /** Only with an operand, such as the name of a package. */
  needsOperand?: true | undefined;
  /** Not with one of these options, after the words, such as `--list`. */
  unlessOptions?: readonly string[] | undefined;
  /** Only for one of these branches of git: the one named, or else the current one. */
  branches?: readonly string[] | undefined;
  /** Not behind these words, such as `uv run`. */
  unlessBehind?: string | undefined;
}

/** Which paths a guard is about. */
export interface PathGuard {
  kind: "path";
  /** `create`: only files that do not exist yet. */
  access: "write" | "read" | "create";
  /** Globs, relative to the directory of the file that contains the rule; without a slash at any depth. */
  patterns: readonly string[];
  /** True: only these paths are allowed. */
  isAllowed?: true | undefined;
}

/** What the message of a commit has to be like. */
export interface MessageFormat {
  isConventional?: true | undefined;
  /** Characters of its first line. */
  maxSubject?: number | undefined;
  /** Its first line begins with this; `*` stands for any text. */
  prefix?: string | undefined;
  /** Contains something of this form, such as `ABC-123`. */
  reference?: "issue" | "ticket" | undefined;
  /** Contains none of these texts, in any case. */
  without?: readonly string[] | undefined;
  hasNoEmoji?: true | undefined;
  /** The first line does not end with a period. */
  hasNoPeriod?: true | undefined;
  /** The description begins with a small letter. */
  isLowerCase?: true | undefined;
}

/** What has to run, and what may only happen after that. */
export interface CheckGuard {
  kind: "check";
  /** A kind of checks, or the words of a command. */
  run: CheckKind | readonly string[];
  before: "end" | "commit" | "push" | "pull_request";
}

/** What a rule is compiled to; a program decides by it. */
export type Guard =
  /** `instead`: what the rule tells to use. */
  | { kind: "command"; refused: readonly CommandPattern[]; instead?: readonly (readonly string[])[] }
  | PathGuard
  | { kind: "commit_message"; format: MessageFormat }
  | { kind: "branch_name"; prefixes: readonly string[] }
  | { kind: "dependencies" }
  | CheckGuard;

/**
 * What became of a sentence: guards, or the reason why there is none, a clause. `demands`: the words of a command that it
 * tells to run all the same.
 */
export type Compiled = { guards: readonly Guard[] } | { reason: string; demands?: readonly string[] };

/** A rule of a file or of the configuration. */
export interface Rule {
  /** One word, unique among the rules of a place. */
  name: string;
  /** The sentence. */
  text: string;
  /** For people: the path of its file, relative to the project or beginning with `~/`, or `configuration`. */
  source: string;
  /** From 1; 0 in the configuration. */
  line: number;
  /** What is enforced; empty if nothing is. */
  guards: readonly Guard[];
  /** Why nothing is enforced, a clause. */
  reason?: string | undefined;
  /** The words of a command that it tells to run, although nothing is enforced. */
  demands?: readonly string[] | undefined;
}
