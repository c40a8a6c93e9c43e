import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const PACKAGES = join(import.meta.dir, "..", "..");

/** A source file of any package; `imports` are those of ours that it names statically, types included. */
interface SourceFile {
  /** Relative to `packages`. */
  path: string;
  imports: readonly string[];
  /** What it declares and exports; what it only hands on is declared elsewhere. */
  exports: readonly string[];
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(PACKAGES, path), "utf8");
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\s[^;"]*?from\s+"(\.[^"]+)"/gm),
    ...text.matchAll(/^import\s+"(\.[^"]+)"/gm),
  ].map(([, specifier = ""]) => join(dirname(path), specifier));
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|class|enum|interface|type|function\*?) (\w+)/gm,
  );
  return { path, imports: specifiers, exports: [...new Set([...declared].map(([, name = ""]) => name))] };
}

const FILES = ["core", "cli", "bench"].flatMap((name) =>
  [...new Bun.Glob(`${name}/src/**/*.ts`).scanSync(PACKAGES)]
    .filter((path) => !path.endsWith(".d.ts"))
    .sort()
    .map(readSource),
);

/** Each group of files that import each other, however long the way round. */
function findCycles(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reachable = new Map(files.map(({ path }) => [path, reachedFrom(path, byPath)]));
  const inCycle = files.map(({ path }) => path).filter((path) => reachable.get(path)?.has(path));
  const groups = inCycle.map((path) =>
    inCycle.filter((other) => reachable.get(path)?.has(other) && reachable.get(other)?.has(path)),
  );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

function reachedFrom(start: string, byPath: ReadonlyMap<string, SourceFile>): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const next of byPath.get(path)?.imports ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/** Names that more than one file exports, with those files. */
function findSharedNames(files: readonly SourceFile[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { path, exports } of files)
    for (const name of exports) owners.set(name, [...(owners.get(name) ?? []), path]);
  return [...owners]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => [name, ...paths].join(" "));
}

const MOST_ENTRIES = 30;

describe("the sources of all packages", () => {
  test("imports and exports are found", () => {
    const manager = FILES.find(({ path }) => path === "core/src/session/manager.ts");
    expect(manager?.imports).toContain("core/src/session/types.ts");
    expect(manager?.exports).toContain("SessionManager");
  });

  test("files that import each other are found, without the files that only lead to them", () => {
    const file = (path: string, ...imports: string[]): SourceFile => ({ path, imports, exports: [] });
    const files = [file("a", "b"), file("b", "c"), file("c", "b"), file("d", "e"), file("e", "d"), file("f")];
    expect(findCycles(files)).toEqual([
      ["b", "c"],
      ["d", "e"],
    ]);
  });

  test("no file imports one that imports it, types included", () => {
    expect(findCycles(FILES)).toEqual([]);
  });

  test("an exported name is declared once", () => {
    expect(findSharedNames(FILES)).toEqual([]);
  });

  test(`no folder has more than ${MOST_ENTRIES} entries`, () => {
    const folders = [...new Set(FILES.map(({ path }) => dirname(join(PACKAGES, path))))];
    const full = folders.filter((folder) => readdirSync(folder).length > MOST_ENTRIES);
    expect(full.map((folder) => relative(PACKAGES, folder))).toEqual([]);
  });
});

/** Statements that expect something of a promise and do not wait for it: they pass before it is settled. */
function findUnawaitedExpectations(text: string): string[] {
  return [
    ...text.matchAll(/^[ \t]*expect(?:<.*?>)?\((?:(?!;\n)[\s\S])*?\)\s*\.(?:rejects|resolves)\b/gm),
  ].map(([statement]) => statement.trim());
}

describe("the tests of all packages", () => {
  test("an expectation about a promise without await is found, on one line and on several", () => {
    const awaited = "await expect(run()).rejects.toThrow();\nreturn expect(a).resolves.toBe(1);\n";
    // In pieces, so that this file holds none itself.
    const statements = ["expect(run())", "expect(\n  run(1),\n)"].map((start) => `${start}.resolves`);
    const text = statements.map((each) => `  ${each}.toBe(1);\n${awaited}expect(1).toBe(1);\n`).join("");
    expect(findUnawaitedExpectations(text)).toEqual(statements);
  });

  test("every expectation about a promise is awaited", () => {
    const paths = [...new Bun.Glob("*/test/**/*.ts").scanSync(PACKAGES)].sort();
    expect(paths.length).toBeGreaterThan(300);
    const unawaited = paths.flatMap((path) =>
      findUnawaitedExpectations(readFileSync(join(PACKAGES, path), "utf8")).map(
        (found) => `${path}: ${found}`,
      ),
    );
    expect(unawaited).toEqual([]);
  });
});
