import { type Operand, type ReadOptions, readOptions } from "./program-options.ts";
import type { NameFilter, ProgramReading, ProgramSpec, SearchScope } from "./program-spec.ts";

// All of `rg --help` but what runs programs (--pre, --hostname-bin, -z), follows links, changes types or writes man pages.
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

/** The types whose files end in one of these and in nothing else, in every version. */
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

/** Reads everything below its paths; without paths what it is piped, else the working directory. */
export function readRipgrep(words: readonly Operand[], isPiped: boolean): ProgramReading {
  const listing = readOptions(words, LISTING);
  if ("obstacle" in listing) return listing;
  const listsOnly = ["--files", "--type-list"].some((name) => listing.given.has(name));
  const read = listsOnly ? listing : readOptions(words, RIPGREP);
  if ("obstacle" in read) return read;
  const operands = read.operands.flatMap((operand) => operand.names ?? [operand.text]);
  const use = { paths: [...read.paths, ...operands], readsContent: !listsOnly };
  const searches = !listsOnly && (operands.length > 0 || !isPiped);
  return { use: searches ? { ...use, search: toScope(read, operands) } : use };
}

const SHOWS_HIDDEN: readonly string[] = [".", "u", "--hidden", "--unrestricted", "--ignore-file"];

/** A glob or type that takes a file in takes it in when it is hidden, too. */
function toScope({ given, values }: ReadOptions, places: readonly string[]): SearchScope {
  const valuesOf = (...names: string[]) =>
    values.filter(({ name }) => names.includes(name)).map(({ text }) => text);
  const globs = valuesOf("g", "--glob", "--iglob").map(toFilter);
  const types = valuesOf("t", "--type");
  // A glob that takes in speaks before any type.
  const hasInclude = globs.some(({ kind }) => kind === "include");
  const typeFilters = hasInclude ? undefined : toTypeFilters(types);
  return {
    places: places.length === 0 ? ["."] : places,
    followsLinks: false,
    opensSpecial: false,
    skipsHidden: !hasInclude && types.length === 0 && !SHOWS_HIDDEN.some((name) => given.has(name)),
    filters: [...(typeFilters ?? []), ...globs],
    takesUnmatched: !hasInclude && typeFilters === undefined,
  };
}

function toFilter(glob: string): NameFilter {
  return glob.startsWith("!")
    ? { kind: "exclude", pattern: glob.slice(1) }
    : { kind: "include", pattern: glob };
}

/** Undefined where there are none, or one of which it is not known what it takes in. */
function toTypeFilters(types: readonly string[]): NameFilter[] | undefined {
  const endings = types.map((type) => (Object.hasOwn(TYPES, type) ? TYPES[type] : undefined));
  if (types.length === 0 || endings.includes(undefined)) return undefined;
  return endings.flatMap((list = "") =>
    list.split(" ").map((ending): NameFilter => ({ kind: "include", pattern: `*.${ending}` })),
  );
}
