import { describe, expect, test } from "bun:test";
import { loadBashGrammar } from "../../../src/approval/bash/grammar.ts";
import { findChecks } from "../../../src/extensions/evidence/find-checks.ts";

const readGrammar = await loadBashGrammar();
const SCRIPTS: Readonly<Record<string, string>> = {
  test: "bun test --timeout 60000 packages",
  check: "bun run lint && bun run types && bun run test",
  lint: "biome check .",
  types: "tsc --noEmit",
  build: "vite build",
  again: "bun run again",
  "lint:test": "echo ok",
  "types:all": "tsc --version",
  e2e: "node run-e2e.js",
};

/** Each check as `kind`, `kind~part` where it covers only a part, and `kind?` or `kind|` where its exit code is hidden. */
function checksOf(line: string): string {
  const found = findChecks(line, {
    readGrammar,
    cwd: "/project/app",
    root: "/project",
    findScript: (name) => SCRIPTS[name],
  });
  const marks = { other: "?", filter: "|" };
  return found
    .map(
      ({ kind, part, hides }) => `${kind}${hides ? marks[hides] : ""}${part === undefined ? "" : `~${part}`}`,
    )
    .join(" ");
}

const WHOLE: readonly [string, string][] = [
  ["bun test", "tests"],
  ["npm test", "tests"],
  ["npm t", "tests"],
  ["yarn test", "tests"],
  ["pnpm -r test", "tests"],
  ["npx vitest run", "tests"],
  ["./node_modules/.bin/jest --ci", "tests"],
  ["timeout 60 pytest -q", "tests"],
  ["CI=1 pytest", "tests"],
  ["python3 -m unittest", "tests"],
  ["uv run pytest tests/", "tests"],
  ["cargo test", "tests"],
  ["go test ./...", "tests"],
  ["bundle exec rspec", "tests"],
  ["make test", "tests"],
  ["make check", "tests"],
  ["sh -c 'bun test'", "tests"],
  ["bun test > out.txt 2>&1", "tests"],
  ["set -o pipefail; npm test | tee out", "tests"],
  ["npx tsc --noEmit && npm run lint", "types lint"],
  ["bunx --no-install tsc -p .", "types"],
  ["mypy src", "types"],
  ["eslint src", "lint"],
  ["ruff check .", "lint"],
  ["cargo clippy", "lint"],
  ["npm run build", "build"],
  ["make", "build"],
  ["bun run check", "lint types tests"],
  ["npm run e2e", "tests"],
  ["cd /project && bun test", "tests"],
  ["cd /project/app/ && bun test", "tests"],
  ["cd .. && npm test", "tests"],
  ["cd sub && cd .. && bun test", "tests"],
  ['cd "$PWD" && bun test', "tests"],
  ["cd $(git rev-parse --show-toplevel) && bun test 2>&1", "tests"],
  ['cd "$(git rev-parse --show-toplevel)"; make test', "tests"],
  ["make -C . test", "tests"],
  ["pytest -v", "tests"],
  ["python3 -m pytest -v", "tests"],
  ["go test -v ./...", "tests"],
  ["cargo test -v", "tests"],
  ["mypy -v .", "types"],
  ["pytest -W error", "tests"],
  ["vitest --run", "tests"],
  ["pytest -p no:cacheprovider", "tests"],
  ["pytest --maxfail 1", "tests"],
  ["pytest --cov mypkg", "tests"],
  ["python -m unittest discover -s tests", "tests"],
  ["jest --coverageReporters text", "tests"],
  ["eslint . --rule x", "lint"],
  ["yarn jest", "tests"],
  ["pnpm vitest run", "tests"],
  ["pnpm tsc", "types"],
  ["yarn eslint .", "lint"],
  ["bun run vitest run", "tests"],
  ["mvn -q clean test", "tests"],
  ["./mvnw test", "tests"],
  ["make VAR=1 test", "tests"],
  ["make clean test", "tests"],
  ["make -j4 -Otarget test", "tests"],
  ["rake -t test", "tests"],
  ["cargo +nightly test", "tests"],
  ["tsc -p tsconfig.build.json", "types"],
  [".venv/bin/pytest", "tests"],
];

const PARTS: readonly [string, string][] = [
  ["bun test -t 'a b'", "tests~-t"],
  ["pytest -k login", "tests~-k"],
  ["pytest tests/test_x.py::a", "tests~tests/test_x.py::a"],
  ["cargo test login", "tests~login"],
  ["go test ./pkg", "tests~./pkg"],
  ["go test -run TestA ./...", "tests~-run"],
  ["jest src/a.test.ts", "tests~src/a.test.ts"],
  ["mocha --grep login", "tests~--grep"],
  ["cd a && bun test", "tests~in a"],
  ["cd /project/other && bun test", "tests~in /project/other"],
  ["cd a && cd b/.. && bun test", "tests~in a"],
  ["cd && bun test", "tests~in ~"],
  ["mvn test -Dtest=Foo", "tests~-Dtest=Foo"],
  ["mvn test -pl mod", "tests~-pl"],
  ["gradle test --tests Foo", "tests~--tests"],
  ["make test TEST=foo", "tests~TEST=foo"],
  ["mocha -f foo", "tests~-f"],
  ["pytest --ignore=tests/slow", "tests~--ignore=tests/slow"],
  ["ctest -L foo", "tests~-L"],
  ["ctest -E foo", "tests~-E"],
  ["ctest -R foo", "tests~-R"],
  ["tsc -p sub/tsconfig.json", "types~sub/tsconfig.json"],
  ["go test .", "tests~."],
  ["go test", "tests~."],
  ["go test -short ./...", "tests~-short"],
  ["jest -o", "tests~-o"],
  ["yarn jest a.test.ts", "tests~a.test.ts"],
  ["make -C sub test", "tests~in sub"],
  ["npm --prefix web test", "tests~in web"],
  ["eslint src/a.ts", "lint~src/a.ts"],
  ["bun run test -- -t x", "tests~-t"],
];

const HIDDEN: readonly [string, string][] = [
  ["bun test || true", "tests?"],
  ["bun test; echo done", "tests?"],
  ["bun test 2>&1; echo $?", "tests?"],
  ["(cd x && make test)", "tests?"],
  ["bun test | tail -5", "tests|"],
  ["bun test 2>&1 | tail -n 5 | tee out", "tests|"],
  ["bun test | cat", "tests|"],
  ["bun test 2>&1 | grep -c pass", "tests?"],
  ["go test ./... | head -2", "tests?"],
  ["go test ./... | grep -v FAIL", "tests?"],
  ["bun test | cat old.log", "tests?"],
  ["bun test | tail -5 old.log", "tests?"],
  ["true || bun test", "tests?"],
  ["exit 0; bun test", "tests?"],
  ["cd sub || exit 1; bun test", "tests~in sub"],
  ["make -i test", "tests?"],
  ["trap 'exit 0' EXIT; bun test", "tests?"],
  ["shopt -s expand_aliases\nalias bun=true\nbun test", "tests?"],
  ["PATH=$PWD/fk:$PATH bun test", "tests?"],
  ["PATH=fk bun test", "tests?"],
  ["env PATH=fk bun test", "tests?"],
  ["bun test | python3 -c 'print(1)'", "tests?"],
  ["for f in a b; do bun test $f; done", "tests?~$f"],
  ["bun test & wait", "tests?"],
];

const NONE = [
  "echo bun test",
  "git commit -m 'bun test passes'",
  "cat test.txt",
  "tsc --version",
  "vitest --watch",
  "pytest --collect-only",
  "cargo test --no-run",
  "tsc -v",
  "tsc --noCheck",
  "pytest --fixtures",
  "pytest --setup-plan",
  "vitest -w",
  "go test -c",
  "npm run lint:test",
  "npm run types:all",
  "make -n test",
  "make -sn test",
  "gradle -m test",
  "./bun test",
  "/project/fake/bun test",
  "npm run missing",
  "bun run again",
  "grep -rn 'bun test' .",
  "npm install jest",
  "",
  "echo 'a",
];

describe("the checks in a command line", () => {
  test.each(WHOLE)("%p checks everything: %s", (line, expected) => expect(checksOf(line)).toBe(expected));

  test.each(PARTS)("%p checks a part: %s", (line, expected) => expect(checksOf(line)).toBe(expected));

  test.each(HIDDEN)("%p hides how the check ended: %s", (line, expected) =>
    expect(checksOf(line)).toBe(expected),
  );

  test.each(NONE)("%p has none", (line) => expect(checksOf(line)).toBe(""));

  test("include the user's own", () => {
    const own = [{ name: "unit tests", pattern: /^\.\/verify .*$/, kind: "tests" as const }];
    const found = findChecks("./verify all", { readGrammar, findScript: () => undefined, own });
    expect(found).toEqual([{ name: "unit tests", kind: "tests" }]);
  });
});
