import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createGlobTool } from "../../src/tools/search-tools.ts";
import type { Workspace } from "../../src/tools/workspace.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

/** The first name is the newest file. */
function workspaceWith(names: readonly string[]): Workspace {
  const workspace = createToolWorkspace();
  for (const [age, name] of names.entries()) {
    const path = join(workspace.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    utimesSync(path, 1_700_000_000, 1_700_000_000 - age);
  }
  return workspace;
}

const glob = async (workspace: Workspace, pattern: string, path?: string) =>
  (await runTool(createGlobTool(workspace), { pattern, ...(path !== undefined && { path }) })).output;

describe("what matches", () => {
  const NAMES = ["src/b.ts", "a.ts", "src/deep/c.ts", "src/app/[id]/page.tsx", ".hidden/d.ts", "src/x.js"];

  test.each([
    ["*.ts", "src/b.ts\na.ts\nsrc/deep/c.ts\n.hidden/d.ts"],
    ["**/*.ts", "src/b.ts\na.ts\nsrc/deep/c.ts\n.hidden/d.ts"],
    ["src/*.ts", "src/b.ts"],
    ["./src/*.{ts,js}", "src/b.ts\nsrc/x.js"],
    ["{src,.hidden}/*.ts", "src/b.ts\n.hidden/d.ts"],
    ["src/deep/", "src/deep/c.ts"],
    ["a.ts", "a.ts"],
    ["src/app/[id]/page.tsx", "src/app/[id]/page.tsx"],
    ["*.py", "No file matches *.py."],
    ["lib/**/*.ts", "No file matches lib/**/*.ts."],
    ["a.ts/*", "No file matches a.ts/*."],
  ])("%s", async (pattern, expected) => {
    expect(await glob(workspaceWith(NAMES), pattern)).toBe(expected);
  });

  test("an absolute pattern and a path lead to the same files", async () => {
    const workspace = workspaceWith(NAMES);
    expect(await glob(workspace, join(workspace.root, "src/*.ts"))).toBe("src/b.ts");
    expect(await glob(workspace, "*.ts", "src")).toBe("src/b.ts\nsrc/deep/c.ts");
    expect(await glob(workspace, "deep/*", "src")).toBe("src/deep/c.ts");
  });

  test("files outside the working directory are shown by their absolute paths", async () => {
    const workspace = workspaceWith([]);
    const outside = join(dirname(workspace.root), "other.txt");
    writeFileSync(outside, "");
    expect(await glob(workspace, "../*.txt")).toBe(outside);
  });

  test("what .gitignore names is left out even if the pattern matches it", async () => {
    const workspace = workspaceWith(["keep.log", "dist/a.js", "b.js", ".git/c.js", "x.log"]);
    writeFileSync(join(workspace.root, ".gitignore"), "dist\n*.log\n!keep.log\n");
    expect(await glob(workspace, "*.log")).toBe("keep.log");
    expect(await glob(workspace, "**/*.js")).toBe("b.js");
    expect(await glob(workspace, "dist/*")).toBe("dist/a.js");
  });

  test("a name with a line break is one line", async () => {
    expect(await glob(workspaceWith(["two\nlines.ts"]), "*.ts")).toBe('"two\\nlines.ts"');
  });

  test("links are not followed", async () => {
    const workspace = workspaceWith(["a.ts"]);
    symlinkSync(dirname(workspace.root), join(workspace.root, "up"));
    expect(await glob(workspace, "**/*.ts")).toBe("a.ts");
  });
});

describe("mistakes", () => {
  test("a missing path is reported with the existing names", async () => {
    const workspace = workspaceWith(["src/a.ts"]);
    await expect(glob(workspace, "*.ts", "srcs")).rejects.toThrow(join(workspace.root, "src"));
  });

  test("a missing path is reported for every pattern", async () => {
    await expect(glob(workspaceWith([]), "src/*.ts", "nowhere")).rejects.toThrow("nowhere");
  });

  test("a file cannot be searched for files", async () => {
    await expect(glob(workspaceWith(["a.ts"]), "*", "a.ts")).rejects.toThrow("is a file, not a directory");
  });
});

test("a path that the pattern leads away from is not searched, since it was not asked about", async () => {
  const workspace = workspaceWith(["a.ts"]);
  const outside = join(workspace.root, "..", "outputs");
  writeFileSync(join(outside, "id_rsa"), "");
  const inside = join(workspace.root, "none");
  for (const path of [join(outside, "x"), "../outputs/x"]) {
    for (const pattern of [`${inside}/*`, `${relative(join(outside, "x"), inside)}/*`]) {
      expect(await glob(workspace, pattern, path)).toBe(`No file matches ${pattern} in ${path}.`);
    }
  }
});

describe("limits", () => {
  test("200 files are shown, and the number of others", async () => {
    const names = Array.from({ length: 230 }, (_, index) => `${1000 + index}.txt`);
    const lines = (await glob(workspaceWith(names), "*.txt")).split("\n");
    expect(lines).toEqual([
      ...names.slice(0, 200),
      "[30 more files match and are not shown; narrow the pattern]",
    ]);
  });

  test("more than 2,000 files are sorted by path, and the result says so", async () => {
    const names = Array.from({ length: 2_001 }, (_, index) => `${9_999 - index}.txt`);
    const lines = (await glob(workspaceWith(names), "*.txt")).split("\n");
    expect(lines[0]).toBe("7999.txt");
    expect(lines.slice(200)).toEqual([
      "[too many to sort by time: sorted by path]",
      "[1801 more files match and are not shown; narrow the pattern]",
    ]);
  });
});

test("the request names the searched directory, also if only the pattern leads there", () => {
  const workspace = createToolWorkspace();
  const tool = createGlobTool(workspace);
  const pathFor = (pattern: string, path?: string) =>
    tool.approval?.({ pattern, ...(path !== undefined && { path }) })?.details?.path;
  expect(pathFor("**/*.ts")).toBe(workspace.root);
  expect(pathFor("link/**", "src")).toBe(join(workspace.root, "src/link"));
  expect(pathFor("/etc/*.conf")).toBe("/etc");
  expect(pathFor("/etc/*.conf", "src")).toBe("/etc");
  expect(pathFor("../../*")).toBe(dirname(dirname(workspace.root)));
  expect(pathFor("~/.ssh/*")).toBe(join(dirname(workspace.root), ".ssh"));
  expect(pathFor("/*")).toBe("/");
});
