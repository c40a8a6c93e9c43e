/** What a program that only reads takes, as far as it is known to only read with it. */
export interface ProgramSpec {
  /** Options without a value, or with one behind `=`; words such as `-a` are given as `a`. Separated by spaces. */
  flags?: string;
  /** Options whose value follows, in the same word or as the next. */
  values?: string;
  /** Options whose value is a file to be read. */
  pathValues?: string;
  /** Options that bring the pattern which would otherwise be the first operand. */
  patternValues?: string;
  /** True where `-20` is a number. */
  numbers?: boolean;
  operands: "none" | "text" | "paths" | "pattern_and_paths";
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
  /** True for what the shell does itself: no program of that name is looked up. */
  isBuiltin?: boolean;
}

/** What a call of such a program would touch. */
export interface ProgramUse {
  /** Operands and values that name files. */
  paths: string[];
  readsContent: boolean;
  /** True when everything below the paths is read too; without paths, below the working directory. */
  isRecursive: boolean;
  followsLinks: boolean;
  skipsHidden: boolean;
  /** With a recursive search: names of files are patterns of these, if there are any. */
  includes: string[];
}

export type ProgramReading = { use: ProgramUse } | { obstacle: string };

export function namesOnly(paths: string[]): ProgramReading {
  return {
    use: {
      paths,
      readsContent: false,
      isRecursive: false,
      followsLinks: false,
      skipsHidden: false,
      includes: [],
    },
  };
}
