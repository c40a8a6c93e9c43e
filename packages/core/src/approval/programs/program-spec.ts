/** What a program that only reads takes, as far as it is known to only read with it. */
export interface ProgramSpec {
  /** Options without a value, or with one behind `=`; words such as `-a` are given as `a`. Separated by spaces. */
  flags?: string;
  /** Options whose value, if they have one, stands in the same word: `-w16`, `--context=3`. */
  optionalValues?: string;
  /** Options whose value follows, in the same word or as the next. */
  values?: string;
  /** Options whose value is a file to be read. */
  pathValues?: string;
  /** Options that bring the pattern which would otherwise be the first operand. */
  patternValues?: string;
  /** Of the options with a value, those that say which names a search takes or leaves out. */
  nameFilters?: Readonly<Record<string, NameFilter["kind"]>>;
  /** Of the values, those that say how much is printed: no number in them may have more than four digits. */
  widths?: string;
  /** True where a value is always a word of its own, and letters in one word may each take the next one. */
  valuesApart?: boolean;
  /** True where `-g=x` means `-g x`. */
  shortEquals?: boolean;
  /** True where `-20` is a number. */
  numbers?: boolean;
  /** True where a word that begins with `@` is replaced by what that file says. */
  responseFiles?: boolean;
  operands: "none" | "text" | "paths" | "pattern_and_paths";
  /** Fewer than these mean everything there is. */
  minOperands?: number;
  /** More than these are written to, or mean something else. */
  maxOperands?: number;
  /** What becomes of its files; `content` when left out. */
  reads?: "content" | "names";
  /** Options that make it read everything below a directory; `always` where it does so without being told. */
  recursive?: string;
  /** Options with which it follows the links it finds there; `always` likewise. */
  following?: string;
  /** Every operand has to look like this. */
  operandPattern?: RegExp;
  /** Every value that is neither a file nor a pattern has to look like this. */
  valuePattern?: RegExp;
  /** The program that it is a script for, which is looked up as well. */
  runs?: string;
  /** True for what the shell does itself: no program of that name is looked up. */
  isBuiltin?: boolean;
}

/** Takes in, or leaves out, the files of a search whose name is like `pattern`; the last one that matches counts. */
export interface NameFilter {
  kind: "include" | "exclude";
  pattern: string;
}

/** Which of the files below a directory are read. */
export interface SearchScope {
  /** What is gone through, as it is written; `.` where nothing is. */
  places: readonly string[];
  followsLinks: boolean;
  /** True where pipes and devices found on the way are opened. */
  opensSpecial: boolean;
  /** Hidden files and directories are passed over, unless a file such as `.ignore` names them. */
  skipsHidden: boolean;
  filters: readonly NameFilter[];
  /** What becomes of files that no filter matches. */
  takesUnmatched: boolean;
}

/** What a call of such a program would touch. */
export interface ProgramUse {
  /** Operands and values that name files, or may. */
  paths: string[];
  readsContent: boolean;
  /** Set when everything below the operands is read too. */
  search?: SearchScope | undefined;
}

/** What a call touches, or what keeps that from being known: words to follow "because of". */
export type ProgramReading = { use: ProgramUse } | { obstacle: string };

/** A call that opens none of its files: it looks at their names, their status, or at nothing. */
export function namesOnly(paths: string[]): ProgramReading {
  return { use: { paths, readsContent: false } };
}
