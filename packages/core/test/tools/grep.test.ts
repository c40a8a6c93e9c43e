import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGrepTool } from "../../src/tools/search-tools.ts";
import type { Workspace } from "../../src/tools/workspace.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

function workspaceWith(files: Record<string, string>, changes: Partial<Workspace> = {}): Workspace {
  const workspace = createToolWorkspace(changes);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace.root, name)), { recursive: true });
    writeFileSync(join(workspace.root, name), content);
  }
  return workspace;
}

const grep = (workspace: Workspace, input: Record<string, unknown>) =>
  runTool(createGrepTool(workspace), input);

const outputOf = async (workspace: Workspace, input: Record<string, unknown>) =>
  (await grep(workspace, input)).output;

const SAMPLE = {
  "src/b.ts": "zero\nneedle one\ntwo\nthree\nfour\nneedle five\n",
  "src/a.ts": "Needle\nneedle\n",
  "notes.md": "no such word\n",
};

describe("output modes", () => {
  test("matching files are sorted by path", async () => {
    expect(await grep(workspaceWith(SAMPLE), { pattern: "needle" })).toEqual({
      output: "src/a.ts\nsrc/b.ts",
      metadata: { count: 2 },
    });
  });

  test("content has line numbers unless they are disabled", async () => {
    const workspace = workspaceWith(SAMPLE);
    const input = { pattern: "needle", output_mode: "content" };
    expect(await outputOf(workspace, input)).toBe(
      "src/a.ts:2:needle\nsrc/b.ts:2:needle one\nsrc/b.ts:6:needle five",
    );
    expect(await outputOf(workspace, { ...input, "-n": false, "-i": true, glob: "a.*" })).toBe(
      "src/a.ts:Needle\nsrc/a.ts:needle",
    );
  });

  test("context is marked and groups that do not touch are separated", async () => {
    const input = { pattern: "needle", output_mode: "content", "-A": 1, path: "src" };
    expect(await outputOf(workspaceWith(SAMPLE), input)).toBe(
      [
        ...["src/a.ts:2:needle", "--", "src/b.ts:2:needle one", "src/b.ts-3-two", "--"],
        "src/b.ts:6:needle five",
      ].join("\n"),
    );
  });

  test("counts are of matching lines", async () => {
    expect(await outputOf(workspaceWith(SAMPLE), { pattern: "e", output_mode: "count", "-C": 3 })).toBe(
      "src/a.ts:2\nsrc/b.ts:4",
    );
  });

  test("a match may span lines if requested", async () => {
    const input = { pattern: "one.two", output_mode: "content", multiline: true };
    expect(await outputOf(workspaceWith(SAMPLE), input)).toBe("src/b.ts:2:needle one\nsrc/b.ts:3:two");
  });
});

describe("no match and errors", () => {
  test("no match is not an error", async () => {
    expect(await grep(workspaceWith(SAMPLE), { pattern: "absent", glob: "*.ts" })).toEqual({
      output: "No match for absent in files *.ts.",
      metadata: { count: 0 },
    });
  });

  test.each([
    ["an invalid expression", { pattern: "(open" }, "unclosed group"],
    ["a newline without multiline", { pattern: "one\\ntwo" }, "--multiline"],
    ["a NUL", { pattern: "a\0b" }, "holds a NUL character"],
    ["an unknown type", { pattern: "x", type: "nosuch" }, "unrecognized file type: nosuch"],
    ["a broken glob", { pattern: "x", glob: "[" }, "unclosed character class"],
  ])("%s is an error with ripgrep's message", async (_, input, words) => {
    await expect(grep(workspaceWith(SAMPLE), input)).rejects.toThrow(words);
  });

  test("a missing path is reported with the existing names", async () => {
    const workspace = workspaceWith(SAMPLE);
    await expect(grep(workspace, { pattern: "x", path: "srcs" })).rejects.toThrow(
      join(workspace.root, "src"),
    );
  });

  test("a named pipe is rejected, since nobody may ever write to it", async () => {
    const workspace = workspaceWith({});
    Bun.spawnSync(["mkfifo", join(workspace.root, "pipe")]);
    await expect(grep(workspace, { pattern: "x", path: "pipe" })).rejects.toThrow("a named pipe");
  });

  test("an interrupted search says so", async () => {
    const running = runTool(
      createGrepTool(workspaceWith(SAMPLE)),
      { pattern: "x" },
      { signal: AbortSignal.abort() },
    );
    await expect(running).rejects.toThrow("interrupted");
  });
});

describe("what is searched", () => {
  test("hidden files are, ignored ones and those of version control are not", async () => {
    const workspace = workspaceWith({
      ".gitignore": "dist/\n*.log\n",
      ".github/workflows/ci.yml": "needle",
      ".git/description": "needle",
      "dist/out.js": "needle",
      "run.log": "needle",
    });
    expect(await outputOf(workspace, { pattern: "needle" })).toBe(".github/workflows/ci.yml");
    expect(await outputOf(workspace, { pattern: "needle", path: "dist" })).toBe("dist/out.js");
    expect(await outputOf(workspace, { pattern: "needle", path: ".git" })).toBe(".git/description");
  });

  test("links are not followed", async () => {
    const workspace = workspaceWith({ "a.txt": "needle" });
    writeFileSync(join(workspace.root, "..", "secret"), "needle");
    symlinkSync(join(workspace.root, "..", "secret"), join(workspace.root, "link"));
    symlinkSync(join(workspace.root, ".."), join(workspace.root, "up"));
    expect(await outputOf(workspace, { pattern: "needle" })).toBe("a.txt");
  });

  test("a glob with a directory is relative to the searched directory", async () => {
    const workspace = workspaceWith({ "app/src/x.ts": "needle", "app/test/x.ts": "needle" });
    const input = { pattern: "needle", path: "app", glob: "./src/**" };
    expect(await outputOf(workspace, input)).toBe("app/src/x.ts");
  });

  test("a single file, and a file outside the working directory, are shown by a path that can be read", async () => {
    const workspace = workspaceWith({ "src/a.ts": "needle" });
    const outside = join(workspace.root, "..", "other.txt");
    writeFileSync(outside, "needle");
    expect(await outputOf(workspace, { pattern: "needle", path: "src/a.ts" })).toBe("src/a.ts");
    const input = { pattern: "needle", path: "../other.txt", output_mode: "content" };
    expect(await outputOf(workspace, input)).toBe(`${join(outside, "..", "other.txt")}:1:needle`);
  });

  test.each(["--files", "-e", "--", "-", "--pre=touch canary"])(
    "the pattern %p is not read as an option",
    async (pattern) => {
      expect(
        await outputOf(workspaceWith({ "a.txt": `x ${pattern} y\n` }), { pattern, output_mode: "content" }),
      ).toBe(`a.txt:1:x ${pattern} y`);
    },
  );

  test("names with a colon, a newline or brackets are distinguished", async () => {
    const workspace = workspaceWith({ "a:1:b.txt": "needle", "[id].tsx": "needle" });
    expect(await outputOf(workspace, { pattern: "needle", output_mode: "content" })).toBe(
      "[id].tsx:1:needle\na:1:b.txt:1:needle",
    );
  });

  test("look-around works", async () => {
    expect(await outputOf(workspaceWith(SAMPLE), { pattern: "needle (?=five)" })).toBe("src/b.ts");
  });

  test("a ripgrep configuration in the environment has no effect", async () => {
    const workspace = workspaceWith(SAMPLE);
    const config = join(workspace.root, "..", "rgrc");
    writeFileSync(config, `--pre=touch\n--pre-glob=*\n--max-count=0\n`);
    const environment = { ...workspace.environment, RIPGREP_CONFIG_PATH: config };
    expect(await outputOf({ ...workspace, environment }, { pattern: "needle" })).toBe("src/a.ts\nsrc/b.ts");
  });
});

describe("limits", () => {
  const MANY = Object.fromEntries(
    Array.from({ length: 150 }, (_, index) => [`f${1000 + index}.txt`, "needle\n"]),
  );

  test("by default 100 files are shown, and the number of others", async () => {
    const lines = (await outputOf(workspaceWith(MANY), { pattern: "needle" })).split("\n");
    expect(lines.length).toBe(101);
    expect([lines[0], lines[99], lines[100]]).toEqual([
      "f1000.txt",
      "f1099.txt",
      "[50 more files not shown]",
    ]);
  });

  test("head_limit sets the number, and 0 means all", async () => {
    const workspace = workspaceWith(MANY);
    const input = { pattern: "needle", output_mode: "content" };
    expect(await outputOf(workspace, { ...input, head_limit: 1 })).toBe(
      "f1000.txt:1:needle\n[149 more lines not shown]",
    );
    expect((await outputOf(workspace, { ...input, head_limit: 0 })).split("\n").length).toBe(150);
  });

  test("a search that finds too much is stopped", async () => {
    const workspace = workspaceWith({ "big.txt": "needle\n".repeat(300_000) });
    const { output } = await grep(workspace, { pattern: "needle", output_mode: "content", head_limit: 1 });
    expect(output).toBe("big.txt:1:needle\n[more than 20,000 more lines not shown]");
  });

  test("a long line is truncated, never inside a character", async () => {
    const workspace = workspaceWith({ "min.js": `needle${"é".repeat(5_000)}\n` });
    const { output } = await grep(workspace, { pattern: "needle", output_mode: "content" });
    expect(output).toMatch(/^min\.js:1:needleé+ \[\.\.\. omitted end of long line\]$/);
    expect(output.length).toBeLessThan(600);
  });
});

test("the request is for reading, by absolute path", () => {
  const workspace = createToolWorkspace();
  expect(createGrepTool(workspace).approval?.({ pattern: "a  b", path: "src" })).toEqual({
    permission: "read",
    toolName: "grep",
    description: "grep: a b in src",
    details: { path: join(workspace.root, "src") },
  });
});

test("a search of a directory excludes files with secrets but not their examples, whatever the glob; a named file is searched", async () => {
  const workspace = workspaceWith({
    ".env": "needle\n",
    ".env.local": "needle\n",
    ".env.example": "needle\n",
    "a/id_rsa": "needle\n",
    "a/Key.PEM": "needle\n",
    "b.ts": "needle\n",
  });
  expect(await outputOf(workspace, { pattern: "needle" })).toBe(".env.example\nb.ts");
  expect(await outputOf(workspace, { pattern: "needle", glob: ".env.local" })).toStartWith("No");
  expect(await outputOf(workspace, { pattern: "needle", glob: "*.pem" })).toStartWith("No");
  expect(await outputOf(workspace, { pattern: "needle", path: ".env" })).toBe(".env");
});

test("a search of a repository's directory excludes settings that may contain a password", async () => {
  const plain = "[core]\n\tbare = false\n";
  const signed = '[remote "origin"]\n\turl = https://me:needle@example.org/x.git\n';
  const workspace = workspaceWith({ ".git/config": `${plain}${signed}`, "lib/.git/config": plain });
  expect(
    await outputOf(workspace, { pattern: "needle|bare", path: ".git", output_mode: "content" }),
  ).toStartWith("No");
  expect(await outputOf(workspace, { pattern: "needle|bare", path: "lib/.git" })).toBe("lib/.git/config");
});
