import type { Runner } from "./runners.ts";

/**
 * What a word does to a check: with `nothing` the runner checks nothing, does not end, or changes what it checks; with
 * `part` it checks a part; `value` takes the next word, so that it names no test; `switch` changes neither.
 */
type WordMeaning = "nothing" | "part" | "value" | "switch" | "operand";

/** Patterns over a word without its `=` and what follows. */
type Options = Readonly<Partial<Record<Exclude<WordMeaning, "operand">, RegExp>>>;

/** Operands that name the whole project, or as good as that. */
const WHOLE_PLACES = /^(?:\.\/)?(?:\.|\.\.\.|src|lib|tests?|packages|app|\*\*\/\*)?\/?$|^\/\/\.\.\.$/;

/** The same for packages of Go. */
const WHOLE_PACKAGES = /^(?:\.\/\.\.\.|\.\.\.|all)$/;

/** Options that runners share. */
const SHARED: Options = {
  nothing:
    /^(?:--version|--help|-h|--watch\w*|--ui|--list\w*|--collect-only|--co|--no-run|--init|--show-?[cC]onfig|--dry-?[rR]un|--dry|--print-config|--build-only|--clean|--pass-?[wW]ith-?[nN]o-?[tT]ests)$/,
  value:
    /^(?:--timeout|--parallel|--max-concurrency|--rerun-each|--seed|--preload|--coverage-\w+|--coverage[A-Z]\w+|--reporters?|--config|-c|--rootdir|--tb|--jobs|-j|--threads|--test-threads|--max-?[wW]orkers|--pool|--env|--environment|--ext|--format|--output-file|--outputFile|-o|-f|--max-warnings|--config-file|--config-path|--path-ignore-patterns|--color|--profile|--target|--target-dir|--features|--manifest-path|--testTimeout|--durations)$/,
  part: /^(?:-t|-k|-g|-m|-run|--grep|--fgrep|--filter|--test-?[nN]ame-?[pP]attern|--test-?[pP]ath-?[pP]attern\w*|--only\w*|--shard|--changed\w*|--last-failed|--lf|--tests|--gtest_filter|--example|--suite|--project|--spec|--bin|--lib|--doc|--test|-p|--package|--file|--testsuite|--exclude|--skip|--ignored)$/,
};

const VITEST_MODES = "watch|dev|list|init|bench";

/** Options of a runner, by its name; these have precedence over the shared ones. */
const OF_RUNNER: Readonly<Record<string, Options>> = {
  pytest: {
    nothing:
      /^(?:-V|--version|--fixtures|--fixtures-per-test|--funcargs|--setup-plan|--setup-only|--markers|--cache-show)$/,
    value:
      /^(?:-W|-p|-c|-n|-o|-r|--maxfail|--cov|--cov-[\w-]+|--junit-?xml|--confcutdir|--basetemp|--timeout|--log-[\w-]+|--import-mode|--dist|--numprocesses|--capture|--override-ini|--pythonwarnings)$/,
    part: /^(?:--ignore|--ignore-glob|--deselect|--sw|--stepwise|--pyargs)$/,
  },
  unittest: {
    value: /^(?:-s|-p|-t|--start-directory|--pattern|--top-level-directory)$/,
    switch: /^discover$/,
  },
  jest: {
    nothing: /^(?:-v|--listTests)$/,
    value: /^(?:-w|--rootDir|--testEnvironment|--collectCoverageFrom|--preset|--setupFiles\w*|--projects)$/,
    part: /^(?:-o|-f|-t|--onlyChanged|--onlyFailures|--findRelatedTests|--lastCommit|--changedSince|--testPathIgnorePatterns|--selectProjects|--ignoreProjects|--roots|--testRegex|--testMatch)$/,
  },
  vitest: {
    nothing: new RegExp(`^(?:-v|-w|${VITEST_MODES})$`),
    value: /^(?:-r|--root|--coverage\.[\w.]+|--poolOptions\.[\w.]+)$/,
    part: /^(?:related|--dir|--exclude)$/,
    switch: /^--run$/,
  },
  mocha: {
    nothing: /^(?:-V|-w)$/,
    value:
      /^(?:-r|--require|-t|-R|-u|--ui|--retries|-s|--slow|--extension|-O|--reporter-options?|--package|--file|--import|--loader|-n|--node-option)$/,
    part: /^(?:-f|-i|--invert|--ignore)$/,
  },
  ava: { nothing: /^-w$/ },
  node: {
    value: /^(?:--import|--loader|-r|--require|--experimental-loader|--test-reporter\S*|--conditions|-C)$/,
  },
  bun: { nothing: /^(?:-v)$/ },
  cargo: { nothing: /^(?:-V)$/ },
  go: {
    nothing: /^(?:-n|-c|-list)$/,
    value:
      /^(?:-timeout|-count|-p|-parallel|-coverprofile|-coverpkg|-covermode|-tags|-cpu|-bench|-benchtime|-o|-mod|-modfile|-ldflags|-gcflags|-shuffle|-vet|-C|-cpuprofile|-memprofile)$/,
    part: /^(?:-run|-short|-skip|-test\.run|-test\.short)$/,
  },
  rspec: {
    nothing: /^(?:-v)$/,
    value: /^(?:-r|--require|-I|--order|--default-path|--out)$/,
    part: /^(?:-e|--tag|--only-failures|-P|--pattern|-n|--next-failure|--exclude-pattern)$/,
  },
  phpunit: { value: /^(?:--configuration|--bootstrap|-d)$/, part: /^(?:--group|--exclude-group)$/ },
  dotnet: {
    value: /^(?:-v|--verbosity|-l|--logger|--framework|-r|--configuration|--collect|--settings|-s)$/,
  },
  "mvn test": {
    nothing: /^(?:-v|-DskipTests|-Dmaven\.test\.skip|-Dmaven\.test\.failure\.ignore)$/,
    part: /^(?:-Dtest|-Dit\.test|-Dgroups|-DexcludedGroups|-pl|--projects|-rf|--resume-from|-f)$/,
  },
  ctest: {
    nothing: /^(?:-N|--show-only)$/,
    part: /^(?:-L|-LE|-E|-R|-I|--tests-regex|--exclude-regex|--label-regex|--label-exclude|--tests-information|--rerun-failed)$/,
  },
  ninja: { nothing: /^-n$/ },
  tsc: {
    nothing: /^(?:-v|-w|--noCheck|--listFilesOnly)$/,
    value:
      /^(?:-p|--project|--outDir|-t|-m|--module|--jsx|--lib|--moduleResolution|--rootDir|--declarationDir)$/,
  },
  mypy: { nothing: /^-V$/, value: /^(?:--python-version|--python-executable|--cache-dir|--exclude)$/ },
  pyright: { nothing: /^-w$/, value: /^(?:-p|--project|--level|--pythonversion|--pythonplatform)$/ },
  eslint: {
    nothing: /^(?:-v|--env-info)$/,
    value:
      /^(?:--rule|--parser|--parser-options|--plugin|--global|--cache-location|--cache-file|--cache-strategy|--resolve-plugins-relative-to|--rulesdir|--concurrency|--flag|--fix-type|--ignore-pattern|--ignore-path)$/,
  },
  ruff: {
    value: /^(?:--select|--ignore|--extend-select|--extend-ignore|--output-format|--line-length|--exclude)$/,
  },
  biome: {
    nothing: /^-V$/,
    value: /^(?:--max-diagnostics|--diagnostic-level|--stdin-file-path)$/,
    part: /^(?:--staged|--since|--only|--skip)$/,
  },
  stylelint: { nothing: /^-v$/ },
  prettier: { nothing: /^-v$/, value: /^(?:--log-level|--ignore-path|--plugin)$/ },
  rubocop: { nothing: /^(?:-v|-V)$/, part: /^(?:--except)$/ },
  webpack: { nothing: /^(?:-v|-w)$/ },
  rollup: { nothing: /^(?:-v|-w)$/ },
};
const SAME_OPTIONS: Readonly<Record<string, string>> = {
  "vue-tsc": "tsc",
  "svelte-check": "tsc",
  "mvn verify": "mvn test",
  standard: "eslint",
};

/** @param runner its words in `RUNNERS`, such as `python -m pytest`. */
function optionsOf(runner: string): Options {
  const same = Object.hasOwn(SAME_OPTIONS, runner) ? (SAME_OPTIONS[runner] ?? runner) : runner;
  const program = same.replace(/^python -m /, "").split(" ")[0] ?? "";
  const key = [same, program].find((name) => Object.hasOwn(OF_RUNNER, name));
  return key === undefined ? {} : (OF_RUNNER[key] ?? {});
}

function meaningOf(word: string, options: Options): WordMeaning {
  const [name = ""] = word.split("=", 1);
  for (const known of [options, SHARED])
    for (const meaning of ["nothing", "switch", "value", "part"] as const)
      if (known[meaning]?.test(name)) return meaning;
  return word.startsWith("-") ? "switch" : "operand";
}

/** What the words after a runner's name make of its check; undefined if it then checks nothing. */
export function readRunnerWords(
  words: readonly string[],
  runner: string,
  { kind, words: operands }: Runner,
): { part?: string } | undefined {
  const options = optionsOf(runner);
  const isWhole = operands === "packages" ? WHOLE_PACKAGES : WHOLE_PLACES;
  let part: string | undefined;
  let hasOperand = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const meaning = meaningOf(word, options);
    if (meaning === "nothing") return undefined;
    if (meaning === "part" && kind === "tests") part ??= word;
    if (meaning === "value" && !word.includes("=")) at += 1;
    if (meaning === "value" && kind === "types" && /^(?:-p|--project)\b/.test(word)) {
      const project = word.split("=")[1] ?? words[at] ?? "";
      if (!isWhole.test(project) && !/^(?:\.\/)?[^/]+\.json$/.test(project)) part ??= project;
    }
    if (meaning !== "operand") continue;
    hasOperand = true;
    if (operands !== "any" && !isWhole.test(word)) part ??= word;
  }
  if (operands === "packages" && !hasOperand) part ??= ".";
  return part === undefined ? {} : { part };
}
