/**
 * The further words that a wider grant leaves free. Only what is listed is covered: none of it can name another program,
 * a module, a configuration or code. From the manuals of the programs. Options are separated by spaces.
 */
export interface FurtherWords {
  /** Options without a value; letters may be joined, as in `-qx`, unless `wholeWords` is set. */
  flags?: string;
  /** Options whose value may only stand in the same word, as in `-j4` and `--bail=2`. */
  attached?: string;
  /** Options with a plain value, such as a number or the name of a rule, in the same word or as the next. */
  names?: string;
  /** The same for text that the program only compares or stores, such as a pattern for the names of tests. */
  texts?: string;
  /** Options whose value is a path. */
  paths?: string;
  /** Matches the operands that are covered; none when left out. Operands are also checked as paths. */
  operands?: RegExp;
  /** For scripts of `package.json`: where the words of the script begin. */
  package?: "at_once" | "after_dashes";
  /** True for programs that read `-run` as one option. */
  wholeWords?: true;
  /** What may follow `--`; more operands when left out. */
  rest?: FurtherWords;
}

/**
 * Words that the program takes for files, names or patterns. Not `@name`, which some programs replace by the contents of a
 * file, and no braces that a program could expand to another path.
 */
const ANY = /^(?![@~:-])(?:[^{}]|\{[\w-]+(?:,[\w-]+)+\})+$/;

/**
 * The operands of test runners that load every file they are given: directories, and files with the names of tests, so
 * that none runs another script of the project.
 */
const toTestFiles = (name: string) =>
  new RegExp(String.raw`^(?=[^@~:-])(?:[^{}:]*/)?(?:${name}|[^./{}:]*|\.)$`);
const PYTHON_TESTS = toTestFiles(String.raw`(?:test_[^/{}:]*|[^/{}:]*_test)\.py(?:::[^{}]*)?`);
// Without `./` in front, bun takes a word for a part of the names of test files.
const BUN_TESTS = /^(?![@~:-])(?:(?!\.{0,2}\/)[^{}]+|[^{}]*[._](?:test|spec)\.[cm]?[jt]sx?)$/;
const LOCAL_PACKAGE = /^\.(?:\/|$)/;
const NAME = /^[A-Za-z_][\w:]*$/;
const NUMBER = /^\d+$/;

const ESLINT: FurtherWords = {
  flags: "--fix --fix-dry-run --quiet --color --no-color --no-ignore --cache --no-inline-config --debug",
  names: "--max-warnings --ext",
  operands: ANY,
};

const TYPESCRIPT: FurtherWords = {
  wholeWords: true,
  flags:
    "-w -b --noEmit --pretty --watch --build --verbose --dry --force --incremental --skipLibCheck --strict",
  paths: "-p --project",
  operands: ANY,
};

const PYTEST: FurtherWords = {
  flags:
    "-q -v -vv -x -s -l --quiet --verbose --exitfirst --showlocals --lf --last-failed --ff --failed-first --nf --new-first --sw " +
    "--stepwise --co --collect-only --no-header --no-summary --disable-warnings --strict-markers --no-cov",
  attached: "-r --cov --durations",
  names: "--maxfail --tb --color",
  texts: "-k -m",
  paths: "--ignore --deselect",
  operands: PYTHON_TESTS,
};

const RUFF: FurtherWords = {
  flags:
    "--fix --unsafe-fixes --no-fix --diff --check --preview --no-cache --quiet -q --statistics --show-fixes",
  names: "--select --ignore --extend-select --line-length",
  operands: ANY,
};

const LINTER: FurtherWords = { flags: "--fix --quiet --color --no-color --verbose", operands: ANY };

// Its command `init` installs packages.
const TEST = /^(?!init$)[^@~:{}-][^{}]*$/;

const VITEST: FurtherWords = {
  flags:
    "-u --run --watch --coverage --no-coverage --passWithNoTests --update --hideSkippedTests --reporter=verbose " +
    "--reporter=dot --reporter=default",
  attached: "--bail --silent --retry",
  names: "--testTimeout",
  texts: "-t --testNamePattern",
  operands: TEST,
};

/** Programs that do one thing to the files which their words name: every call of them can be granted at once. */
export const SINGLE_PURPOSE: Readonly<Record<string, FurtherWords>> = {
  eslint: ESLINT,
  prettier: {
    flags:
      "-c -w -l -u --check --write --list-different --ignore-unknown --no-color --no-error-on-unmatched-pattern",
    names: "--log-level",
    operands: ANY,
  },
  tsc: TYPESCRIPT,
  tsgo: TYPESCRIPT,
  vitest: VITEST,
  oxlint: LINTER,
  stylelint: LINTER,
  markdownlint: LINTER,
  jest: {
    flags:
      "-i -o -u -b --ci --watch --watchAll --coverage --no-coverage --verbose --silent --bail --runInBand --updateSnapshot " +
      "--passWithNoTests --onlyChanged --onlyFailures --forceExit --detectOpenHandles --colors",
    names: "-w --maxWorkers --testTimeout",
    texts: "-t --testNamePattern",
    operands: ANY,
  },
  pytest: PYTEST,
  mypy: {
    flags:
      "-v --strict --pretty --ignore-missing-imports --check-untyped-defs --show-error-codes --namespace-packages " +
      "--explicit-package-bases --no-incremental --disallow-untyped-defs",
    operands: ANY,
  },
  pyright: { flags: "--stats --verbose --warnings", operands: ANY },
  black: {
    flags: "-q -v --check --diff --fast --quiet --verbose",
    names: "-l -t --line-length --target-version",
    operands: ANY,
  },
  isort: { flags: "-c -q -v --check --check-only --diff --quiet --verbose", operands: ANY },
  flake8: {
    flags: "-v -q --count --statistics --show-source",
    names: "--max-line-length --select --ignore --extend-ignore --max-complexity",
    operands: ANY,
  },
  pylint: { flags: "-E --errors-only", names: "-d -e --disable --enable --fail-under", operands: ANY },
  rubocop: { flags: "-a -A --autocorrect --autocorrect-all --parallel --display-cop-names", operands: ANY },
  rspec: {
    flags: "-w -b --fail-fast --backtrace",
    names: "--seed",
    texts: "-e --example",
    operands: toTestFiles(String.raw`[^/{}:]*_spec\.rb(?::\d+)?`),
  },
  shellcheck: { names: "-s -e -S --shell --exclude --severity", operands: ANY },
  shfmt: { wholeWords: true, flags: "-d -l -w -s", names: "-i -ln", operands: ANY },
  gofmt: { wholeWords: true, flags: "-l -d -w -s -e", operands: ANY },
  goimports: { wholeWords: true, flags: "-l -d -w -e", operands: ANY },
  staticcheck: { wholeWords: true, names: "-checks -tags", operands: LOCAL_PACKAGE },
  rustfmt: { flags: "-l -v -q --check --quiet --verbose", names: "--edition", operands: ANY },
  "clang-format": { wholeWords: true, flags: "-i -n --dry-run --Werror", operands: ANY },
  ctest: {
    wholeWords: true,
    flags: "-V -N -Q --output-on-failure --rerun-failed --stop-on-failure --verbose",
    attached: "-j",
    names: "--timeout",
    texts: "-R -E -L",
  },
};

const BIOME: FurtherWords = {
  flags: "--write --fix --unsafe --error-on-warnings --verbose --no-errors-on-unmatched --staged --changed",
  attached: "--max-diagnostics --diagnostic-level --colors",
  operands: ANY,
};

/** The same for programs of which only some commands do one thing. */
export const TOOL_COMMANDS: Readonly<Record<string, FurtherWords>> = {
  "biome check": BIOME,
  "biome lint": BIOME,
  "biome format": BIOME,
  "biome ci": BIOME,
  "ruff check": RUFF,
  "ruff format": RUFF,
  "golangci-lint run": { wholeWords: true, flags: "-v --fix --verbose --fast", operands: LOCAL_PACKAGE },
  "python -m pytest": PYTEST,
  "python -m unittest": {
    flags: "-v -q -f -b --verbose --failfast --buffer",
    texts: "-k",
    operands: PYTHON_TESTS,
  },
};

/**
 * For scripts of the project, of which only the name is known: they could run a word as a command, or a file. No common
 * runner reads these options as code.
 */
export const SCRIPT: FurtherWords = {
  flags: "--watch --verbose --silent --quiet --coverage --fix --bail --check --color --no-color",
};

// These programs read options of their own up to `--`.
const NPM_SCRIPT: FurtherWords = {
  flags: "-s --silent",
  rest: SCRIPT,
  package: "after_dashes",
};
const PACKAGE_SCRIPT: FurtherWords = { ...SCRIPT, rest: SCRIPT, package: "at_once" };

const CARGO: FurtherWords = {
  flags:
    "-r -q -v -vv --release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests " +
    "--examples --benches --doc --no-run --no-fail-fast --no-deps --locked --offline --frozen --quiet --verbose --check --fix",
  names:
    "-j --jobs -p -F --package --features --bin --test --example --bench --exclude --profile --message-format --color",
};

const CARGO_TEST: FurtherWords = {
  ...CARGO,
  operands: NAME,
  rest: {
    flags: "--nocapture --no-capture --ignored --include-ignored --exact --list --show-output",
    names: "--test-threads --skip",
    operands: NAME,
  },
};

const GO: FurtherWords = {
  wholeWords: true,
  flags: "-v -x -n -a -race -short -cover -failfast -json -benchmem",
  names: "-count -timeout -parallel -cpu -tags -benchtime -p -shuffle -covermode",
  texts: "-run -bench -skip",
  operands: LOCAL_PACKAGE,
};

const GRADLE: FurtherWords = {
  wholeWords: true,
  flags:
    "-q --info --quiet --stacktrace --offline --continue --rerun-tasks --no-daemon --parallel --console=plain",
  texts: "--tests",
};
const MAVEN: FurtherWords = {
  wholeWords: true,
  flags: "-q -o -B -ntp -U -e --quiet --offline --batch-mode",
  names: "-pl",
};
const DOTNET: FurtherWords = {
  wholeWords: true,
  flags: "--no-restore --no-build --nologo",
  names: "-c -v --configuration --verbosity",
};

const DOCKER: FurtherWords = {
  flags: "-a -q -f -t --all --quiet --no-trunc --follow --timestamps --no-color --services",
  names: "-n --tail --since --until",
  operands: /^[\w.-]+$/,
};

const GITHUB: FurtherWords = {
  flags: "--comments --log --log-failed --name-only --patch",
  names: "-L -s --json --limit --state --author --label --branch",
  operands: NUMBER,
};

/**
 * Commands of programs that have others, too. A `*` is the name of a script, target or recipe of the project, which is
 * fixed as well.
 */
export const PROGRAM_COMMANDS: Readonly<Record<string, FurtherWords>> = {
  "bun test": {
    flags:
      "-u --only --todo --coverage --update-snapshots --watch --randomize --concurrent --pass-with-no-tests --dots",
    attached: "--bail",
    names: "--timeout --rerun-each --max-concurrency --seed",
    texts: "-t --test-name-pattern",
    operands: BUN_TESTS,
  },
  "bun run *": PACKAGE_SCRIPT,
  "npm test": NPM_SCRIPT,
  "npm t": NPM_SCRIPT,
  "npm run *": NPM_SCRIPT,
  "npm run-script *": NPM_SCRIPT,
  "pnpm test": PACKAGE_SCRIPT,
  "pnpm run *": PACKAGE_SCRIPT,
  "yarn test": PACKAGE_SCRIPT,
  "yarn run *": PACKAGE_SCRIPT,
  "make *": {
    flags: "-k -B -s -n --keep-going --always-make --silent --dry-run --no-print-directory",
    attached: "-j",
  },
  "cargo test": CARGO_TEST,
  "cargo nextest run": { ...CARGO, operands: NAME },
  "cargo build": CARGO,
  "cargo check": CARGO,
  "cargo clippy": {
    ...CARGO,
    rest: { names: "-D -W -A --deny --warn --allow" },
  },
  "cargo fmt": { ...CARGO, rest: { flags: "--check" } },
  "cargo doc": CARGO,
  "cargo bench": CARGO_TEST,
  "go test": GO,
  "go build": GO,
  "go vet": GO,
  "go fmt": GO,
  "git add": {
    flags: "-A -u -v -n -N --all --update --verbose --dry-run --intent-to-add",
    operands: ANY,
  },
  "git commit": {
    flags: "-a -v -q -s --all --verbose --quiet --amend --no-edit --signoff --allow-empty --dry-run",
    texts: "-m --message --author --date --fixup --squash",
    paths: "-F --file",
    operands: ANY,
  },
  "docker ps": DOCKER,
  "docker images": DOCKER,
  "docker logs": DOCKER,
  "docker compose ps": DOCKER,
  "docker compose logs": DOCKER,
  "gh pr view": GITHUB,
  "gh pr list": GITHUB,
  "gh pr diff": GITHUB,
  "gh pr checks": GITHUB,
  "gh issue view": GITHUB,
  "gh issue list": GITHUB,
  "gh run view": GITHUB,
  "gh run list": GITHUB,
  "gradle test": GRADLE,
  "gradle build": GRADLE,
  "gradle check": GRADLE,
  "./gradlew test": GRADLE,
  "./gradlew build": GRADLE,
  "./gradlew check": GRADLE,
  "mvn test": MAVEN,
  "mvn compile": MAVEN,
  "mvn verify": MAVEN,
  "mvn package": MAVEN,
  "./mvnw test": MAVEN,
  "./mvnw verify": MAVEN,
  "dotnet build": DOTNET,
  "dotnet test": DOTNET,
  "dotnet format": DOTNET,
  "swift build": { wholeWords: true, flags: "-v -q", names: "-c" },
  "swift test": { wholeWords: true, flags: "-v -q --parallel", names: "-c", texts: "--filter --skip" },
  "mix test": {
    flags: "--trace --failed --stale",
    names: "--seed --only",
    operands: toTestFiles(String.raw`[^/{}:]*_test\.exs(?::\d+)?`),
  },
  "mix format": { flags: "--check-formatted", operands: ANY },
  "terraform fmt": { wholeWords: true, flags: "-check -diff -recursive -no-color", operands: ANY },
  "terraform validate": { wholeWords: true, flags: "-no-color -json" },
};
