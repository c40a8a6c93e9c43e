import { HIDDEN, isKnown, UNKNOWN } from "./shell/text-value.ts";
import type { CommandPattern } from "./types.ts";

/** A call of a program, as far as its words are known. */
export interface Call {
  /** The program's name without its directory, and its arguments. */
  words: readonly string[];
  /** The words of the programs that start it, such as `uv run`. */
  behind?: readonly string[] | undefined;
  /** `NAME=value` before it. */
  assignments?: readonly string[] | undefined;
}

/** Programs that only print or search what their words say, whatever it is. */
const TEXT_PROGRAMS: ReadonlySet<string> = new Set([
  "echo",
  "printf",
  "grep",
  "egrep",
  "rg",
  "ag",
  "man",
  "cat",
  "read",
]);

/** True if a call is one of the pattern's, whatever its branch. */
export function matchesCall(
  { words, behind = [], assignments = [] }: Call,
  pattern: CommandPattern,
): boolean {
  const [program = "", ...rest] = pattern.words;
  const called = toProgram(words[0] ?? "");
  // A module is the same one whichever version runs it.
  const own = rest[0] === "-m" ? called.replace(/^python\d$/, "python") : called;
  if (program !== "" && !mayBe(own, toProgram(program))) return false;
  // A program that is not known at all is the refused one if its words are.
  if (own === UNKNOWN && rest.length === 0) return false;
  if (program === "" && TEXT_PROGRAMS.has(own)) return false;
  if (
    pattern.unlessBehind !== undefined &&
    behind.some((each) => each.startsWith(pattern.unlessBehind ?? ""))
  )
    return false;
  const after = findOperands(words, 1, rest);
  if (after === undefined) return false;
  if (onlyAsks(words, after, pattern)) return false;
  if (pattern.needsOperand && !words.slice(after).some((word) => !word.startsWith("-"))) return false;
  const { options, unlessOptions } = pattern;
  const given = [words[0] ?? "", ...words.slice(after).filter((_, at, all) => !takesNext(all[at - 1]))];
  if (unlessOptions?.some((option) => hasOption(given, option))) return false;
  return options === undefined || options.some((option) => hasOption([...words, ...assignments], option));
}

/** True for a call that shows a version or a help page, or tries a commit or a push without making it. */
function onlyAsks(words: readonly string[], after: number, pattern: CommandPattern): boolean {
  const [program = "", ...args] = words;
  if (program === UNKNOWN || program === HIDDEN) return false;
  const rest = words.slice(after);
  const [only = ""] = rest;
  if (rest.length === 1 && pattern.words.length > 0) {
    if (only === "--help" || (program === "git" && only === "-h")) return true;
    if (
      args.length === 1 &&
      (/^(?:--version|-V)$/.test(only) || (only === "-v" && SHOWS_VERSION.has(program)))
    )
      return true;
  }
  if (program === "git" && pattern.words.length === 1 && rest.length === 2 && rest[1] === "--help")
    return true;
  if (!/^git (?:commit|push)$/.test(pattern.words.join(" ")) || rest.includes("--no-dry-run")) return false;
  const end = rest.indexOf("--");
  // The word after another option may be its value.
  return rest.some(
    (word, at) =>
      word === "--dry-run" &&
      (end < 0 || at < end) &&
      (at === 0 || !/^-/.test(rest[at - 1] ?? "") || PLAIN_OPTION.test(rest[at - 1] ?? "")),
  );
}

/** Programs whose `-v` is their version. */
const SHOWS_VERSION: ReadonlySet<string> = new Set(["npm", "npx", "yarn", "pnpm", "bun", "node", "git"]);
/** Options of commits and pushes without a value. */
const PLAIN_OPTION =
  /^(?:-[aqvsu]|--(?:all|amend|quiet|verbose|short|porcelain|signoff|tags|force|no-verify))$/;

/** True for an option whose value is the next word. */
function takesNext(word = ""): boolean {
  return /^(?:-[a-z]*[mFu]|--(?:message|file|local-user|cleanup|sort|format|column|color))$/.test(word);
}

/** True if a word is the wanted one, or may be it as far as it is known. */
function mayBe(word: string, wanted: string): boolean {
  if (word === wanted || word === UNKNOWN || word === HIDDEN) return true;
  if (isKnown(word)) return false;
  const parts = word.split(/[\uE000\uE001]+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(wanted) && parts.join("").length > 1;
}

/** Without a directory and a version: `/usr/bin/python3.12` is `python3`. */
export function toProgram(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1);
  return name.replace(/^(python\d?)(?:\.\d+)?$/, "$1").replace(/^(pip\d?)\.\d+$/, "$1");
}

/**
 * Where the words continue after these operands; undefined if they are not the first ones. The word after an option may
 * be its value.
 */
function findOperands(words: readonly string[], from: number, wanted: readonly string[]): number | undefined {
  const [next, ...rest] = wanted;
  if (next === undefined) return from;
  const word = words[from];
  if (word === undefined) return undefined;
  if (word === UNKNOWN) return findOperands(words, from + 1, wanted);
  if (word === next || mayBe(word, next)) return findOperands(words, from + 1, rest);
  if (!word.startsWith("-") && !/^[+@]/.test(word)) return undefined;
  return (
    findOperands(words, from + 1, wanted) ??
    (word.includes("=") || words[from + 1] === undefined ? undefined : findOperands(words, from + 2, wanted))
  );
}

// Short options of git that take the rest of a word as their value.
const VALUE_LETTERS: Readonly<Record<string, string>> = { git: "mFCctoSu" };
const LONG_FORMS: Readonly<Record<string, string>> = {
  r: "--recursive",
  R: "--recursive",
  f: "--force",
  n: "--dry-run",
};

/** True if a call has an option, also in a group such as `-fu`, with a value, or shortened as git allows. */
export function hasOption(words: readonly string[], option: string): boolean {
  const program = toProgram(words[0] ?? "");
  const args = words.slice(1);
  if (option === "--") return args.includes("--");
  if (!option.startsWith("-")) return args.some((word) => word.toLowerCase().includes(option.toLowerCase()));
  const end = args.indexOf("--");
  const given = end < 0 ? args : args.slice(0, end);
  if (option.startsWith("--"))
    return given.some((word) => {
      const name = word.split("=", 1)[0] ?? "";
      return name === option || (program === "git" && /^--..+/.test(name) && option.startsWith(name));
    });
  const letters = [...option.slice(1)];
  // A single-dash option of several letters may be a word of its own, as in `-race`.
  if (given.includes(option)) return true;
  return letters.every((letter) => given.some((word) => hasLetter(word, letter, program)));
}

function hasLetter(word: string, letter: string, program: string): boolean {
  if (word.startsWith("--")) return program === "rm" && word === LONG_FORMS[letter];
  if (!/^-[A-Za-z]/.test(word)) return false;
  for (const each of word.slice(1)) {
    if (each === letter || (program === "rm" && each.toLowerCase() === letter.toLowerCase())) return true;
    if (VALUE_LETTERS[program]?.includes(each)) return false;
  }
  return false;
}
