import type { CheckKind } from "./types.ts";

/** How a program checks something. */
export interface Runner {
  kind: CheckKind;
  /**
   * What its positional words are: names of tests or files, so that it then checks a part of the project, or places of
   * which those in `WHOLE_PLACES` are the whole project, or packages of Go, of which only `...` is, and none stands for
   * one package.
   */
  words: "part" | "places" | "packages" | "any";
}

const part = (kind: CheckKind): Runner => ({ kind, words: "part" });
const places = (kind: CheckKind): Runner => ({ kind, words: "places" });
const packages = (kind: CheckKind): Runner => ({ kind, words: "packages" });
const any = (kind: CheckKind): Runner => ({ kind, words: "any" });

/** Programs that check, by their name and their first words. The longest name that fits counts. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  "bun test": part("tests"),
  "node --test": part("tests"),
  "deno test": part("tests"),
  jest: part("tests"),
  vitest: part("tests"),
  "vitest run": part("tests"),
  mocha: part("tests"),
  ava: part("tests"),
  karma: any("tests"),
  "playwright test": part("tests"),
  "cypress run": part("tests"),
  pytest: part("tests"),
  "python -m pytest": part("tests"),
  "python -m unittest": part("tests"),
  tox: any("tests"),
  nox: any("tests"),
  "cargo test": part("tests"),
  "cargo nextest run": part("tests"),
  "go test": packages("tests"),
  rspec: part("tests"),
  "rails test": part("tests"),
  phpunit: part("tests"),
  "php artisan test": part("tests"),
  "dotnet test": places("tests"),
  "mvn test": any("tests"),
  "mvn verify": any("tests"),
  ctest: any("tests"),
  "mix test": part("tests"),
  "swift test": any("tests"),
  "zig test": part("tests"),
  "zig build test": any("tests"),
  "flutter test": part("tests"),
  "dart test": part("tests"),
  "sbt test": any("tests"),
  "bazel test": places("tests"),
  bats: places("tests"),
  prove: part("tests"),
  tsc: part("types"),
  "vue-tsc": part("types"),
  "svelte-check": any("types"),
  "deno check": places("types"),
  mypy: places("types"),
  "python -m mypy": places("types"),
  pyright: places("types"),
  "cargo check": any("types"),
  "srb tc": any("types"),
  "flow check": any("types"),
  eslint: places("lint"),
  "biome check": places("lint"),
  "biome lint": places("lint"),
  "biome ci": places("lint"),
  oxlint: places("lint"),
  standard: places("lint"),
  xo: places("lint"),
  "ruff check": places("lint"),
  flake8: places("lint"),
  pylint: places("lint"),
  "golangci-lint run": places("lint"),
  "cargo clippy": any("lint"),
  "go vet": packages("lint"),
  rubocop: places("lint"),
  shellcheck: part("lint"),
  stylelint: places("lint"),
  phpstan: places("lint"),
  "deno lint": places("lint"),
  "prettier --check": places("lint"),
  "black --check": places("lint"),
  ktlint: places("lint"),
  swiftlint: any("lint"),
  "cargo build": any("build"),
  "go build": places("build"),
  "vite build": any("build"),
  "next build": any("build"),
  webpack: any("build"),
  rollup: any("build"),
  tsup: any("build"),
  "cmake --build": any("build"),
  ninja: any("build"),
  "meson compile": any("build"),
  "mvn package": any("build"),
  "mvn compile": any("build"),
  "dotnet build": places("build"),
  "swift build": any("build"),
  "zig build": any("build"),
  "mix compile": any("build"),
  "bazel build": places("build"),
};

/** Of a script, or a target of make and the like, by its name. */
export function kindOfScript(name: string): CheckKind | undefined {
  if (/^(?:tests?|spec|e2e|unit|integration|check)(?:[:_-].*)?$|[:_-]tests?$/.test(name)) return "tests";
  if (/^(?:type-?check|types|tsc|typing)(?:[:_-].*)?$|[:_-]types$/.test(name)) return "types";
  if (/^(?:lint|eslint|format-and-lint|style)(?:[:_-].*)?$|[:_-]lint$/.test(name)) return "lint";
  if (/^(?:build|compile|dist|all)(?:[:_-].*)?$/.test(name)) return "build";
  return undefined;
}
