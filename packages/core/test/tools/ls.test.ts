import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLsTool } from "../../src/tools/search-tools.ts";
import type { Workspace } from "../../src/tools/workspace.ts";
import { ROOT_CAN_ANYWAY, testUnless } from "../support/test-unless.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const ls = (workspace: Workspace, path?: string) =>
  runTool(createLsTool(workspace), path === undefined ? {} : { path });

describe("a listing", () => {
  test("has directories first, links with their targets and files with their sizes", async () => {
    const workspace = createToolWorkspace();
    mkdirSync(join(workspace.root, "src"));
    mkdirSync(join(workspace.root, ".git"));
    writeFileSync(join(workspace.root, "README.md"), "x".repeat(2_048));
    writeFileSync(join(workspace.root, "a.txt"), "");
    writeFileSync(join(workspace.root, "two\nlines"), "12");
    symlinkSync("/nowhere", join(workspace.root, "link"));
    Bun.spawnSync(["mkfifo", join(workspace.root, "pipe")]);
    expect(await ls(workspace)).toEqual({
      output: [
        ...[".git/", "src/", "README.md (2.0 KB)", "a.txt (0 bytes)", "link -> /nowhere"],
        ...["pipe (not a regular file)", '"two\\nlines" (2 bytes)'],
      ].join("\n"),
      metadata: { count: 7 },
    });
  });

  test("of an empty directory says so", async () => {
    const workspace = createToolWorkspace();
    mkdirSync(join(workspace.root, "src"));
    expect((await ls(workspace, "src/")).output).toBe("src is empty.");
  });

  test("stops after 500 entries and reports the number of others", async () => {
    const workspace = createToolWorkspace();
    for (let index = 0; index < 510; index++) writeFileSync(join(workspace.root, `${1000 + index}`), "");
    const lines = (await ls(workspace)).output.split("\n");
    expect(lines.slice(499)).toEqual(["1499 (0 bytes)", "[10 more entries are not shown]"]);
  });
});

describe("mistakes", () => {
  test("a missing directory is reported with the existing names", async () => {
    const workspace = createToolWorkspace();
    mkdirSync(join(workspace.root, "source"));
    await expect(ls(workspace, "sources")).rejects.toThrow(join(workspace.root, "source"));
  });

  test("a file is reported as a file", async () => {
    const workspace = createToolWorkspace();
    writeFileSync(join(workspace.root, "a.txt"), "");
    await expect(ls(workspace, "a.txt")).rejects.toThrow("is a file, not a directory. Use read");
  });

  testUnless(ROOT_CAN_ANYWAY)("a directory without read permission is named", async () => {
    const workspace = createToolWorkspace();
    mkdirSync(join(workspace.root, "locked"));
    chmodSync(join(workspace.root, "locked"), 0);
    await expect(ls(workspace, "locked")).rejects.toThrow("cannot be listed: permission denied (EACCES)");
    chmodSync(join(workspace.root, "locked"), 0o700);
  });
});

test("the request is for reading, by absolute path", () => {
  const workspace = createToolWorkspace();
  expect(createLsTool(workspace).approval?.({})).toEqual({
    permission: "read",
    toolName: "ls",
    description: "ls: .",
    details: { path: workspace.root },
  });
});
