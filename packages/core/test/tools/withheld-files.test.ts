import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGlobTool, createGrepTool, createLsTool } from "../../src/tools/search-tools.ts";
import type { Workspace } from "../../src/tools/workspace.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const NOTE = "[files that need approval to be read are left out]";

function workspaceWith(files: Record<string, string>): Workspace {
  const workspace = createToolWorkspace();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace.root, name)), { recursive: true });
    writeFileSync(join(workspace.root, name), content);
  }
  return workspace;
}

const FILES = {
  "a.md": "needle one\nneedle two\n",
  "private/plan.md": "needle secret\n",
  "private/deep/plan.md": "needle secret\n",
  "private/two\nlines.md": "needle secret\n",
  "private/binary": `needle secret\n${"x".repeat(200_000)}\n\0\n`,
};

const withheldIn = ({ root }: Workspace) => ({
  isWithheld: (path: string) => path.startsWith(`${root}/private`),
});

describe("files that a rule withholds", () => {
  test("are found by no search for their content, in any output mode", async () => {
    const workspace = workspaceWith(FILES);
    const search = async (input: Record<string, unknown>) =>
      (await runTool(createGrepTool(workspace), { pattern: "needle", ...input }, withheldIn(workspace)))
        .output;
    expect(await search({})).toBe(`a.md\n${NOTE}`);
    expect(await search({ output_mode: "count" })).toBe(`a.md:2\n${NOTE}`);
    const lines = `a.md:1:needle one\na.md:2:needle two\n${NOTE}`;
    for (const input of [{}, { "-C": 3 }, { multiline: true }, { "-n": true }]) {
      expect(await search({ output_mode: "content", ...input })).toBe(lines);
    }
  });

  test("give no hint of their content: the result is the same whether they match or not", async () => {
    const workspace = workspaceWith(FILES);
    const search = async (pattern: string) =>
      runTool(createGrepTool(workspace), { pattern, output_mode: "count" }, withheldIn(workspace));
    expect(await search("needle secret")).toEqual({
      output: `No match for needle secret.\n${NOTE}`,
      metadata: { count: 0 },
    });
    expect(await search("needle absent")).toEqual({
      output: `No match for needle absent.\n${NOTE}`,
      metadata: { count: 0 },
    });
  });

  test("do not count towards the limits of a search", async () => {
    const workspace = workspaceWith({ ...FILES, "private/long.md": "needle\n".repeat(30_000) });
    const input = { pattern: "needle", output_mode: "content" };
    const { output } = await runTool(createGrepTool(workspace), input, withheldIn(workspace));
    expect(output).toBe(`a.md:1:needle one\na.md:2:needle two\n${NOTE}`);
  });

  test("are left out of names that are searched, and the result says so", async () => {
    const workspace = workspaceWith(FILES);
    const find = async (pattern: string) =>
      (await runTool(createGlobTool(workspace), { pattern }, withheldIn(workspace))).output;
    expect(await find("**/*.md")).toBe(`a.md\n${NOTE}`);
    expect(await find("**/plan.md")).toBe(`No file matches **/plan.md.\n${NOTE}`);
    expect(await find("a.*")).toBe("a.md");
  });

  test("are left out of a listing, and the result says so", async () => {
    const workspace = workspaceWith(FILES);
    const list = async (path: string) => runTool(createLsTool(workspace), { path }, withheldIn(workspace));
    expect(await list(".")).toEqual({ output: `a.md (22 bytes)\n${NOTE}`, metadata: { count: 1 } });
    expect(await list("private")).toEqual({ output: NOTE, metadata: { count: 0 } });
  });
});

test("a search reports that a binary file matches, by its known name", async () => {
  const workspace = workspaceWith({ "b\nin": `needle\n${"x".repeat(200_000)}\n\0\n`, "bin/x": "a\0needle" });
  const search = async (path: string) =>
    (await runTool(createGrepTool(workspace), { pattern: "needle", path, output_mode: "content" })).output;
  expect(await search(".")).toBe(
    '"b\\nin":1:needle\n"b\\nin": WARNING: stopped searching binary file after match (found "\\0" byte around offset 200008)',
  );
  expect(await search("bin/x")).toBe('bin/x: binary file matches (found "\\0" byte around offset 1)');
});
