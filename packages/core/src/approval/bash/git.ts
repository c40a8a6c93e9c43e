import { showWord } from "./parse.ts";
import { type Operand, type ProgramReading, type ProgramSpec, readOptions, toUse } from "./program-spec.ts";

/** A call of git that only reads, and what it shows. */
export interface GitReading {
  /** The directory that `-C` names, as written. */
  directory: string | undefined;
  reading: ProgramReading;
  /** True if it prints contents of tracked files. */
  showsContent: boolean;
}

interface Subcommand extends ProgramSpec {
  showsContent?: boolean;
  /** Without one of these options, an operand would create something. */
  operandsNeed?: string;
  /** The options and operands with which it shows content. */
  showsContentWith?: string;
}

const FORMAT = "--format --pretty --date";
const COMMIT_LIMITS =
  "--all --branches --tags --remotes --first-parent --no-merges --merges --reverse --topo-order --date-order " +
  "--author-date-order --left-right --cherry-pick --cherry-mark --boundary --ancestry-path --full-history " +
  "--simplify-merges --not --no-walk --do-walk -i E F P i --regexp-ignore-case --fixed-strings --all-match --invert-grep";
const COMMIT_VALUES =
  "n --max-count --skip --since --after --until --before --author --committer --grep --min-parents --max-parents";
const LOG_FLAGS =
  "--oneline --graph --decorate --no-decorate --abbrev-commit --no-abbrev-commit --follow --full-diff --log-size " +
  "--no-notes --no-mailmap --use-mailmap --relative-date --parents --children --show-pulls --source --no-show-signature";
const DIFF_FLAGS =
  "--stat --shortstat --numstat --name-only --name-status --summary --compact-summary --dirstat --cumulative --raw z " +
  "--no-patch s --minimal --patience --histogram --word-diff --color --no-color --color-words --color-moved --check " +
  "--full-index --no-renames --find-renames --find-copies M C --exit-code --quiet --no-ext-diff --no-textconv b w " +
  "--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-submodules a --text R r t " +
  "--relative --no-relative --no-prefix --pickaxe-all --pickaxe-regex --root --cc c m --no-indent-heuristic --stat-count";
const PATCH_FLAGS = "p u --patch --patch-with-stat --patch-with-raw W --function-context --binary";
const DIFF_VALUES =
  "--diff-filter --diff-algorithm --stat-width --stat-name-width --inter-hunk-context --abbrev S G";
const PATCH_VALUES = "U --unified";
// A signature is checked by a program, and a wide field is filled with blanks.
const HARMLESS_VALUE = /^(?!.*%G)(?!.*\d{5})/s;

const DIFF: Subcommand = {
  flags: `--cached --staged --merge-base ${DIFF_FLAGS} ${PATCH_FLAGS}`,
  values: `${DIFF_VALUES} ${PATCH_VALUES}`,
  operands: "paths",
  showsContent: true,
};
const LOG: Subcommand = {
  flags: `${COMMIT_LIMITS} ${LOG_FLAGS} ${DIFF_FLAGS} ${PATCH_FLAGS}`,
  values: `${COMMIT_VALUES} ${FORMAT} ${DIFF_VALUES} ${PATCH_VALUES} L`,
  numbers: true,
  operands: "paths",
  showsContentWith: `${PATCH_FLAGS} U --unified L S G --cc c m`,
};
const LIST: Subcommand = {
  flags:
    "a r v --all --remotes --verbose --list l --show-current --column --no-column --color --no-color i --ignore-case --omit-empty",
  values: `--contains --no-contains --merged --no-merged --points-at --sort ${FORMAT}`,
  operands: "text",
};

/**
 * The subcommands that only read, each with the options for which that is certain; see their manual pages. Left out are
 * options that run programs (`--ext-diff`, `--textconv`, `-O`, `--show-signature`), write (`--output`), compare files
 * outside the repository (`--no-index`) or reach other machines.
 */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  status: {
    flags:
      "s b v z --short --branch --show-stash --long --verbose --ahead-behind --no-ahead-behind --renames --no-renames " +
      "--untracked-files --ignored --ignore-submodules --porcelain --column --no-column",
    optionalValues: "u",
    operands: "paths",
    showsContentWith: "v --verbose",
  },
  diff: DIFF,
  log: LOG,
  show: { ...LOG, showsContent: true },
  whatchanged: LOG,
  reflog: { ...LOG, operandPattern: /^(?!(?:expire|delete|drop|write|exists|list)$)/ },
  blame: {
    flags:
      "l s t e f n w b M C --root --show-stats --show-name --show-number --show-email --line-porcelain --porcelain --incremental p --first-parent",
    values: "L --date --abbrev --since",
    operands: "paths",
    showsContent: true,
  },
  branch: { ...LIST, flags: `${LIST.flags} vv`, operandsNeed: "l --list" },
  tag: {
    ...LIST,
    flags: "l --list --column --no-column --color --no-color i --ignore-case",
    optionalValues: "n",
    operandsNeed: "l --list",
  },
  remote: { flags: "v --verbose", operands: "none" },
  "rev-parse": {
    flags:
      "q --quiet --verify --show-toplevel --show-cdup --show-prefix --show-superproject-working-tree --git-dir --absolute-git-dir " +
      "--git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository " +
      "--show-object-format --symbolic --symbolic-full-name --abbrev-ref --short --all --branches --tags --remotes --not --revs-only --no-revs --local-env-vars",
    values: "--since --until --default --git-path",
    operands: "paths",
  },
  "rev-list": {
    ...LOG,
    flags: `${COMMIT_LIMITS} --count --objects --abbrev-commit --oneline --parents --children`,
    values: `${COMMIT_VALUES} ${FORMAT}`,
  },
  "ls-files": {
    flags:
      "c d m o i s u k t v z --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude-standard " +
      "--full-name --error-unmatch --directory --no-empty-directory --eol --deduplicate --recurse-submodules",
    values: "x --exclude --abbrev --format",
    operands: "paths",
  },
  "ls-tree": {
    flags: "d r t l z --long --name-only --name-status --object-only --full-name --full-tree",
    values: "--abbrev --format",
    operands: "paths",
  },
  "diff-tree": { ...DIFF, flags: `${DIFF_FLAGS} ${PATCH_FLAGS} --no-commit-id --stdin v` },
  "diff-index": { ...DIFF, flags: `${DIFF_FLAGS} ${PATCH_FLAGS} --cached --merge-base` },
  "diff-files": DIFF,
  "cat-file": { flags: "t s e p", operands: "paths", showsContent: true },
  "merge-base": { flags: "a --all --octopus --independent --is-ancestor", operands: "text" },
  "for-each-ref": {
    flags: "--ignore-case --omit-empty",
    values: `--count --sort --points-at --contains --merged --no-merged --exclude ${FORMAT}`,
    operands: "text",
  },
  "show-ref": {
    flags: "d q s --head --heads --branches --tags --dereference --quiet --verify --hash",
    operands: "text",
  },
  "name-rev": {
    flags: "--tags --all --name-only --always --no-undefined",
    values: "--refs --exclude",
    operands: "text",
  },
  "count-objects": { flags: "v H --verbose --human-readable", operands: "none" },
  "check-ignore": { flags: "q v n --quiet --verbose --non-matching --no-index", operands: "paths" },
  "symbolic-ref": { flags: "q --quiet --short", operands: "text", minOperands: 1, maxOperands: 1 },
  describe: {
    flags: "--all --tags --contains --always --long --first-parent --exact-match --dirty --broken",
    values: "--abbrev --candidates --match --exclude",
    operands: "text",
  },
  shortlog: {
    flags: `s n e c --summary --numbered --email --committer ${COMMIT_LIMITS}`,
    values: `${COMMIT_VALUES} ${FORMAT}`,
    operands: "paths",
  },
  grep: {
    flags:
      "i n l L c v w F E G P h H o q z a I p W --ignore-case --line-number --column --files-with-matches --files-without-match " +
      "--name-only --count --invert-match --word-regexp --fixed-strings --extended-regexp --basic-regexp --perl-regexp " +
      "--only-matching --quiet --null --text --heading --break --color --no-color --show-function --function-context --cached --all-match --and --or --not --full-name",
    values: "A B C --after-context --before-context --context --max-depth --max-count m",
    patternValues: "e",
    operands: "pattern_and_paths",
    showsContent: true,
  },
};

/** Two words; the second one decides. */
const NESTED: Readonly<Record<string, Readonly<Record<string, Subcommand>>>> = {
  stash: {
    list: LOG,
    show: {
      flags: `${DIFF_FLAGS} ${PATCH_FLAGS} --include-untracked --only-untracked`,
      values: DIFF_VALUES,
      operands: "text",
      showsContent: true,
    },
  },
  worktree: { list: { flags: "v z --verbose --porcelain", operands: "none" } },
};

/** Settings without secrets; those of the user are part of every commit. */
const SHOWN_SETTINGS =
  /^(?:user\.(?:name|email)|init\.defaultbranch|core\.\w+|branch\.[^\s]+\.(?:remote|merge))$/i;

const PLAIN_GLOBALS: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
]);

/** Reads the operands of a call of git. The caller checks that nothing in its repository runs a program. */
export function readGitCall(words: readonly Operand[]): GitReading | { unsupported: string } {
  const rest = [...words];
  let directory: string | undefined;
  for (let word = rest[0]; word?.text.startsWith("-") && word.text !== "--version"; word = rest[0]) {
    rest.shift();
    if (PLAIN_GLOBALS.has(word.text)) continue;
    const named = word.text === "-C" && directory === undefined ? rest.shift() : undefined;
    if (named === undefined || named.names !== undefined || named.text === "")
      return { unsupported: `the option ${showWord(word.text)}` };
    directory = named.text;
  }
  const [name, ...operands] = rest;
  if (name === undefined || name.names !== undefined) return { unsupported: "its missing subcommand" };
  const found = findSubcommand(name.text, operands);
  if (found === undefined) return { unsupported: `its subcommand ${showWord(name.text)}` };
  const { subcommand, words: own } = found;
  const read = readOptions(own, subcommand);
  if ("unsupported" in read) return read;
  const invalid = read.values.find(({ text }) => !HARMLESS_VALUE.test(text));
  if (invalid) return { unsupported: `what follows the option ${showWord(invalid.name)}` };
  const isGiven = (list = "") => list.split(" ").some((option) => read.given.has(option));
  if (subcommand.operandsNeed !== undefined && read.operands.length > 0 && !isGiven(subcommand.operandsNeed))
    return { unsupported: "an operand" };
  const showsContent = subcommand.showsContent === true || isGiven(subcommand.showsContentWith);
  const reading = toUse(read, { ...subcommand, reads: showsContent ? "content" : "names" });
  return { directory, reading, showsContent };
}

function findSubcommand(
  name: string,
  words: readonly Operand[],
): { subcommand: Subcommand; words: readonly Operand[] } | undefined {
  if (name === "config") return findShownSetting(words);
  const nested = Object.hasOwn(NESTED, name) ? NESTED[name] : undefined;
  if (nested !== undefined) {
    const [second, ...others] = words;
    const subcommand = second && Object.hasOwn(nested, second.text) ? nested[second.text] : undefined;
    return subcommand && { subcommand, words: others };
  }
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  return subcommand && { subcommand, words };
}

/** `git config --get NAME` or `git config NAME` of a setting without secrets. */
function findShownSetting(words: readonly Operand[]) {
  const [first, ...others] = words;
  const names = first?.text === "--get" ? others : words;
  const isShown =
    names.length === 1 && names[0]?.names === undefined && SHOWN_SETTINGS.test(names[0]?.text ?? "");
  return isShown ? { subcommand: { operands: "text" } as const, words: names } : undefined;
}
