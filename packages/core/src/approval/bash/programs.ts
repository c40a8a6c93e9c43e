import { join, resolve } from "node:path";
import { findRealPath } from "../../infrastructure/fs/real-path.ts";
import { findProgramLocation, resolveExecutable } from "../../infrastructure/process/environment.ts";
import { processEnvironment } from "../../infrastructure/runtime.ts";
import type { ApprovalContext, EntryBudget } from "../types.ts";
import { readGitCall } from "./git.ts";
import { findGitDanger } from "./git-repository.ts";
import { type SimpleCommand, showWord, type Word } from "./parse.ts";
import {
  type NameFilter,
  namesOnly,
  type Operand,
  type ProgramReading,
  type ProgramSpec,
  type ReadOptions,
  readOptions,
  readProgramUse,
  type SearchScope,
} from "./program-spec.ts";
import { type CommandEvaluation, expandGlob } from "./search-policy.ts";
import {
  readBracket,
  readJq,
  readPrintf,
  readSed,
  readSeq,
  readTest,
  readXxd,
  TEXT_PROGRAMS,
} from "./text-programs.ts";

const toSet = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Tests and actions of `find` that only read and print, without a value. */
const FLAGS = toSet(
  "-empty -depth -print -print0 -ls -prune -quit -not ! ( ) -o -or -a -and , -nouser -nogroup -readable -writable " +
    "-executable -mount -xdev -true -false -daystart -noleaf -warn -nowarn -P",
);

/** Tests and actions with one value. */
const VALUES = toSet(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -size -mtime -mmin -atime -amin " +
    "-ctime -cmin -maxdepth -mindepth -printf -perm -user -group -uid -gid -links -inum -lname -ilname -fstype -used",
);

/** Tests with a file to compare with. */
const PATH_VALUES = toSet("-newer -anewer -cnewer -samefile");

/** Tests with a date, whose time zone may be a file. */
const DATE_VALUE = /^-newer[aBcm]t$/;

/**
 * Reads a call of `find`. Its expression must not run, write or delete anything or follow links. Anything not known to
 * be harmless is treated as harmful, so `-exec` and similar actions need no list.
 */
function readFindExpression(words: readonly Operand[]): ProgramReading {
  const paths: string[] = [];
  const rest = [...words];
  let isExpression = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { text, names } = word;
    if (names !== undefined && isExpression)
      return { unsupported: `the file names that ${showWord(text)} stands for` };
    if (names !== undefined) paths.push(...names);
    else if (FLAGS.has(text)) isExpression ||= text !== "-P";
    else if (VALUES.has(text) || PATH_VALUES.has(text) || DATE_VALUE.test(text)) {
      isExpression = true;
      const value = rest.shift();
      if (!value || value.names !== undefined || isUnsupportedValue(text, value.text)) {
        return { unsupported: `what follows ${showWord(text)}` };
      }
      if (PATH_VALUES.has(text)) paths.push(value.text);
    } else if (isExpression || text.startsWith("-")) return { unsupported: showWord(text) };
    else paths.push(text);
  }
  return namesOnly(paths);
}

/** True for a format width with many digits, which prints as many spaces for every file. */
function isUnsupportedValue(test: string, value: string): boolean {
  return test === "-printf" ? /\d{5}/.test(value) : DATE_VALUE.test(test) && /^-|[="]/.test(value);
}

/** Programs that list names, sizes and kinds of files. */
const LISTING_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  // Not `-L`, which follows every link it finds.
  ls: {
    flags:
      "a A b B c C d f F g G h H i k l m n N o p q Q r R s S t u U v x X Z 1 --all --almost-all --author --classify " +
      "--color --colour --directory --file-type --full-time --group-directories-first --human-readable --inode --literal " +
      "--no-group --numeric-uid-gid --quote-name --recursive --reverse --si --size --escape",
    values:
      "--sort --time --time-style --format --ignore --hide --width --block-size --indicator-style --quoting-style",
    widths: "--width",
    operands: "paths",
    reads: "names",
  },
  stat: {
    flags: "L t f --dereference --terse --file-system",
    values: "c --format --printf",
    widths: "c --format --printf",
    operands: "paths",
    reads: "names",
  },
  file: {
    flags: "b h i k L 0 --brief --mime --mime-type --mime-encoding --keep-going",
    operands: "paths",
    reads: "names",
  },
  du: {
    flags:
      "a b c h k m s S x --all --apparent-size --bytes --total --human-readable --summarize --one-file-system --si",
    values: "d t B --max-depth --threshold --exclude --block-size",
    operands: "paths",
    reads: "names",
  },
  df: {
    flags: "a h H i k l m P T --all --human-readable --inodes --local --print-type --total",
    operands: "paths",
    reads: "names",
  },
  // Not `-R` and `-o`, which write, and not `-l`, which follows links.
  tree: {
    flags:
      "a d f i p s h u g D F v t c U r x J C n N q Q --dirsfirst --filesfirst --noreport --du --prune --si --inodes --nolinks",
    values: "L I P --filelimit --charset --sort --timefmt",
    widths: "--timefmt",
    valuesApart: true,
    operands: "paths",
    reads: "names",
  },
  readlink: {
    flags: "f e m n q s v z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
    operands: "paths",
    reads: "names",
  },
  realpath: {
    flags: "e m q s L P z --canonicalize-existing --canonicalize-missing --quiet --strip --no-symlinks",
    pathValues: "--relative-to --relative-base",
    operands: "paths",
    reads: "names",
  },
};

// All of `rg --help` except options that run programs (--pre, --hostname-bin, -z), follow links, change types or write
// man pages.
const RIPGREP: ProgramSpec = {
  flags:
    "i n N l c v w s S F o x U P H a q u p I . 0 b --ignore-case --smart-case --case-sensitive --line-number " +
    "--no-line-number --files-with-matches --files-without-match --count --count-matches --include-zero --invert-match " +
    "--word-regexp --fixed-strings --no-fixed-strings --only-matching --line-regexp --multiline --no-multiline " +
    "--multiline-dotall --crlf --pcre2 --no-pcre2 --no-unicode --with-filename --no-filename --quiet --text --binary " +
    "--byte-offset --hidden --no-hidden --no-follow --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files " +
    "--no-ignore-global --no-ignore-parent --no-ignore-vcs --no-ignore-messages --require-git --no-require-git " +
    "--unrestricted --heading --no-heading --json --stats --vimgrep --trim --pretty --column --no-column --null " +
    "--null-data --passthru --stop-on-nonmatch --max-columns-preview --no-messages --no-config --files --type-list " +
    "--one-file-system --glob-case-insensitive --ignore-file-case-insensitive --line-buffered --block-buffered --mmap " +
    "--no-mmap --no-context-separator --sort-files",
  values:
    "A B C g m t T M r d j E --after-context --before-context --context --glob --iglob --max-count --type --type-not " +
    "--max-columns --replace --max-depth --threads --sort --sortr --max-filesize --encoding --color --colors " +
    "--context-separator --field-context-separator --field-match-separator --path-separator --engine",
  pathValues: "f --file --ignore-file",
  patternValues: "e --regexp f --file",
  shortEquals: true,
  operands: "pattern_and_paths",
};

/** The types that contain exactly these extensions in every version. */
const TYPES: Readonly<Record<string, string>> = {
  c: "c h C H in cats",
  cpp: "C H cpp hpp cxx hxx cc hh c h inl in",
  cs: "cs",
  csharp: "cs",
  css: "css scss",
  dart: "dart",
  go: "go",
  html: "htm html ejs",
  js: "js jsx mjs cjs vue",
  kotlin: "kt kts",
  lua: "lua",
  markdown: "markdown md mdown mdwn mdx mkd mkdn",
  md: "markdown md mdown mdwn mdx mkd mkdn",
  php: "php php3 php4 php5 php7 php8 pht phtml",
  py: "py pyi",
  python: "py pyi",
  rust: "rs",
  scala: "scala sbt",
  sql: "sql psql",
  swift: "swift",
  ts: "ts tsx mts cts",
  typescript: "ts tsx mts cts",
  vue: "vue",
  zig: "zig",
};

// Listing takes no pattern: the first operand is a path.
const LISTING: ProgramSpec = { ...RIPGREP, operands: "paths" };

/**
 * Reads a call of ripgrep, which searches below its paths, or without paths its piped input or the working directory.
 */
function readRipgrep(words: readonly Operand[], isPiped: boolean): ProgramReading {
  const listing = readOptions(words, LISTING);
  if ("unsupported" in listing) return listing;
  const listsOnly = ["--files", "--type-list"].some((name) => listing.given.has(name));
  const read = listsOnly ? listing : readOptions(words, RIPGREP);
  if ("unsupported" in read) return read;
  const operands = read.operands.flatMap((operand) => operand.names ?? [operand.text]);
  const use = { paths: [...read.paths, ...operands], readsContent: !listsOnly };
  const searches = !listsOnly && (operands.length > 0 || !isPiped);
  return { use: searches ? { ...use, search: toScope(read, operands) } : use };
}

const SHOWS_HIDDEN: readonly string[] = [".", "u", "--hidden", "--unrestricted", "--ignore-file"];

/** A glob or type that includes a file also includes it when it is hidden. */
function toScope({ given, values }: ReadOptions, roots: readonly string[]): SearchScope {
  const valuesOf = (...names: string[]) =>
    values.filter(({ name }) => names.includes(name)).map(({ text }) => text);
  const globs = valuesOf("g", "--glob", "--iglob").map(toFilter);
  const types = valuesOf("t", "--type");
  // A glob that includes files overrides every type.
  const hasInclude = globs.some(({ kind }) => kind === "include");
  const typeFilters = hasInclude ? undefined : toTypeFilters(types);
  return {
    roots: roots.length === 0 ? ["."] : roots,
    followsLinks: false,
    opensSpecial: false,
    skipsHidden: !hasInclude && types.length === 0 && !SHOWS_HIDDEN.some((name) => given.has(name)),
    filters: [...(typeFilters ?? []), ...globs],
    includesUnmatched: !hasInclude && typeFilters === undefined,
  };
}

function toFilter(glob: string): NameFilter {
  return glob.startsWith("!")
    ? { kind: "exclude", pattern: glob.slice(1) }
    : { kind: "include", pattern: glob };
}

/** Undefined when there are no types, or the extensions of one are unknown. */
function toTypeFilters(types: readonly string[]): NameFilter[] | undefined {
  const endings = types.map((type) => (Object.hasOwn(TYPES, type) ? TYPES[type] : undefined));
  if (types.length === 0 || endings.includes(undefined)) return undefined;
  return endings.flatMap((list = "") =>
    list.split(" ").map((ending): NameFilter => ({ kind: "include", pattern: `*.${ending}` })),
  );
}

/** Programs whose operands form a language, or whose options follow special rules. */
interface SpecialProgram {
  read(words: readonly Operand[], isPiped: boolean): ProgramReading;
  isBuiltin?: boolean;
}

/** By the name as typed; these override `READ_ONLY_PROGRAMS`. */
export const SPECIAL_PROGRAMS: Readonly<Record<string, SpecialProgram>> = {
  echo: { read: (words) => namesOnly(words.flatMap(({ names }) => names ?? [])), isBuiltin: true },
  printf: { read: readPrintf, isBuiltin: true },
  test: { read: readTest, isBuiltin: true },
  "[": { read: readBracket, isBuiltin: true },
  command: { read: readCommandLookup, isBuiltin: true },
  find: { read: readFindExpression },
  jq: { read: readJq },
  ps: { read: readPs },
  rg: { read: readRipgrep },
  sed: { read: readSed },
  seq: { read: readSeq },
  xxd: { read: readXxd },
};

/** Supports only looking up a name; any other form runs it. */
function readCommandLookup([option, ...names]: readonly Operand[]): ProgramReading {
  const isLookup = option?.text === "-v" || option?.text === "-V";
  const isPlain = names.every((operand) => operand.names === undefined && !operand.text.startsWith("-"));
  return isLookup && isPlain ? namesOnly([]) : { unsupported: "its operands" };
}

/**
 * Supports only the lists that show no environment on any system: `-e` means every process on one system and the
 * variables on another.
 */
function readPs(words: readonly Operand[]): ProgramReading {
  const text = words.map((word) => word.text).join(" ");
  return ["", "aux", "ax", "-A"].includes(text)
    ? namesOnly([])
    : { unsupported: "the columns it would show" };
}

const NO_OPERANDS: ProgramSpec = { operands: "none" };
const TEXT: ProgramSpec = { operands: "text" };

/** Programs that read no files of the project: they describe the system or process their operands. */
const SYSTEM_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  basename: { flags: "a z --multiple --zero", values: "s --suffix", operands: "text" },
  dirname: { flags: "z --zero", operands: "text" },
  expr: TEXT,
  // A larger number takes longer and needs approval.
  factor: { operands: "text", operandPattern: /^\d{1,18}$/ },
  sleep: { operands: "text", operandPattern: /^\d{1,2}(?:\.\d+)?s?$/ },
  which: { flags: "a --all", operands: "text" },
  // Any operand except a format, which begins with a plus, would set the clock. A time zone may be a file.
  date: {
    flags: "u R --utc --universal --rfc-email",
    optionalValues: "I --iso-8601",
    values: "d --date --rfc-3339",
    valuePattern: /^[^="]*$/,
    operands: "text",
    operandPattern: /^\+(?!.*\d{5})/s,
  },
  uname: {
    flags: "a s n r v m p i o --all --kernel-name --kernel-release --machine --operating-system",
    operands: "none",
  },
  id: { flags: "u g G n r z --user --group --groups --name --real", operands: "text" },
  groups: TEXT,
  // An operand would set the name, and the full name requires a network lookup.
  hostname: { flags: "s --short", operands: "none" },
  nproc: { flags: "--all", operands: "none" },
  free: { flags: "b k m g h w t --human --mega --giga --total --wide", operands: "none" },
  uptime: { flags: "p s --pretty --since", operands: "none" },
  arch: NO_OPERANDS,
  whoami: NO_OPERANDS,
  logname: NO_OPERANDS,
  tty: { flags: "s --silent", operands: "none" },
  // Only the variables that describe directories and the way the user works.
  printenv: {
    operands: "text",
    minOperands: 1,
    operandPattern:
      /^(?:HOME|PATH|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR|HOSTNAME|PAGER|EDITOR)$/,
  },

  pwd: { flags: "L P", operands: "none", isBuiltin: true },
  true: { ...TEXT, isBuiltin: true },
  false: { ...TEXT, isBuiltin: true },
  ":": { ...TEXT, isBuiltin: true },
  type: { flags: "a f p P t", operands: "text", isBuiltin: true },
};

/**
 * Runtimes that print their version before they read the working directory, with the expected name of the file behind
 * the program's name: a version manager's shim, which may download and run what the project names, has another one. Not
 * npm, which loads the project's `.npmrc` first.
 */
const RUNTIMES: Readonly<Record<string, RegExp>> = {
  node: /^node(?:js)?$/,
  bun: /^bun(?:\.exe)?$/,
  python3: /^python3(?:\.\d+)?$/,
};

/** True for exactly `NAME --version`. */
export function isVersionQuery(words: readonly Operand[]): boolean {
  return words.length === 1 && words[0]?.text === "--version";
}

/** True when the program of that name is such a runtime itself. The caller checks that it is outside the project. */
export function isRuntime(
  name: string,
  { environment = processEnvironment(), root }: ApprovalContext,
): boolean {
  const expected = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined;
  const file = expected && resolveExecutable(name, { environment, outside: root });
  const real = file && findRealPath(file, "/");
  return real !== undefined && expected?.test(real.slice(real.lastIndexOf("/") + 1)) === true;
}

/**
 * Programs that only read, each with the options for which that is certain; with any other option a call needs
 * approval. Taken from the manuals of GNU coreutils, findutils, grep, diffutils, util-linux and their BSD counterparts:
 * an option on which they differ is left out. Programs that run other programs, write files, open pagers or
 * connections, or read settings from the working directory are left out on purpose. Programs whose operands form a
 * language are in `SPECIAL_PROGRAMS`; git is in `git.ts`.
 */
export const READ_ONLY_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  ...LISTING_PROGRAMS,
  ...TEXT_PROGRAMS,
  ...SYSTEM_PROGRAMS,
};

/**
 * Reads one command: the files it would read, the reason why it may do more than read, or undefined for an unknown
 * program.
 */
export function readSimpleCommand(
  { command, isPiped }: { command: SimpleCommand; isPiped: boolean },
  { context, entryBudget }: Pick<CommandEvaluation, "context" | "entryBudget">,
): ProgramReading | undefined {
  const [program, ...words] = command;
  const name = program?.text ?? "";
  const spec = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name] : undefined;
  const special = Object.hasOwn(SPECIAL_PROGRAMS, name) ? SPECIAL_PROGRAMS[name] : undefined;
  const operands = expandWords(words, { cwd: context.cwd, entryBudget });
  if (name === "git") return "names" in operands ? readGit(operands.names, context) : operands;
  if (!spec && !special) {
    const isQuery = "names" in operands && isVersionQuery(operands.names) && isRuntime(name, context);
    return isQuery ? namesOnly([]) : undefined;
  }
  if ("unsupported" in operands) return operands;
  if (isVersionQuery(operands.names) && !isBuiltin(name)) return namesOnly([]);
  if (special) return special.read(operands.names, isPiped);
  return spec && readProgramUse(operands.names, spec);
}

/** Reads a call of git, in the repository of `context.cwd` or of the directory that `-C` names. */
function readGit(words: readonly Operand[], context: ApprovalContext): ProgramReading {
  const call = readGitCall(words);
  if ("unsupported" in call || "unsupported" in call.reading)
    return "unsupported" in call ? call : call.reading;
  const { directory = ".", reading, showsContent } = call;
  const danger = findGitDanger({ ...context, cwd: resolve(context.cwd, directory) }, showsContent);
  if (danger !== undefined) return { unsupported: danger };
  const { use } = reading;
  // `HEAD:src/a.ts` is a path in a commit.
  const named = use.paths.flatMap((path) => [
    path,
    ...(path.includes(":") ? [path.slice(path.indexOf(":") + 1)] : []),
  ]);
  return {
    use: { ...use, paths: named.map((path) => (path.startsWith("/") ? path : join(directory, path))) },
  };
}

/** True for shell builtins among the programs that only read. */
export function isBuiltin(name: string): boolean {
  return Boolean(SPECIAL_PROGRAMS[name]?.isBuiltin ?? READ_ONLY_PROGRAMS[name]?.isBuiltin);
}

/**
 * True when a shell started in `startsIn` finds a program of that name in the project; such a program may do anything.
 */
export function isProjectsProgram(
  name: string,
  startsIn: string,
  { context, surroundings }: Pick<CommandEvaluation, "context" | "surroundings">,
): boolean {
  const { environment = processEnvironment() } = context;
  return findProgramLocation(name, { environment, root: surroundings.root, cwd: startsIn }) === "project";
}

/** The operands with the names that their patterns match, or the reason why these are unknown. */
export function expandWords(
  words: readonly Word[],
  { cwd, entryBudget }: { cwd: string; entryBudget: EntryBudget },
): { names: Operand[] } | { unsupported: string } {
  const names: Operand[] = [];
  for (const { text, isGlob } of words) {
    const found = isGlob ? expandGlob(text, cwd, entryBudget) : { names: [] };
    if ("unsupported" in found) return found;
    // A file may have the name `-o`, which the program reads as an option.
    const option = found.names.find((name) => name.startsWith("-"));
    if (option !== undefined)
      return { unsupported: `${showWord(option)}, a match of ${showWord(text)} that looks like an option` };
    // The pattern may match more names here than in the shell, which would then leave the word unchanged.
    names.push({ text, names: found.names.length === 0 ? undefined : [...found.names, text] });
  }
  return { names };
}
