import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import type { Tool } from "../../src/tool/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { type FileWorkspace, failure, makeFileWorkspace } from "../support/file-workspace.ts";

/** As a call does it: the request first, then the preview with the same arguments. */
async function preview<P extends z.ZodObject>(tool: Tool<P>, input: z.input<P>): Promise<string | undefined> {
  const args = tool.parameters.parse(input);
  tool.approval?.(args);
  return tool.preview?.(args);
}

function look({ root, workspace }: FileWorkspace) {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  return [names.map((name) => [name, statSync(join(root, name)).mtimeMs]), workspace.files.modifiedFiles];
}

describe("an edit", () => {
  test("shows what would change, and changes nothing", async () => {
    const files = makeFileWorkspace();
    files.put("CLAUDE.md", "one\r\ntwo\r\n");
    await files.read({ file_path: "CLAUDE.md" });
    const before = look(files);
    const input = { file_path: "CLAUDE.md", old_string: "two", new_string: "2" };
    expect(await preview(files.editTool, input)).toBe(
      "--- CLAUDE.md\n+++ CLAUDE.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    );
    expect(look(files)).toEqual(before);
    await files.edit(input);
    expect(files.text("CLAUDE.md")).toBe("one\r\n2\r\n");
  });

  test("that would fail shows nothing of the file", async () => {
    const files = makeFileWorkspace();
    files.put("unread.txt", "secret");
    files.put("read.txt", "text");
    await files.read({ file_path: "read.txt" });
    const ask = (file_path: string, old_string = "secret") =>
      failure(preview(files.editTool, { file_path, old_string, new_string: "x" }));
    expect(await ask("unread.txt")).toContain("has not been read in this session");
    expect(await ask("missing.txt")).toContain("There is no file");
    expect(await ask("read.txt")).toContain("was not found");
    expect(await ask("read.txt", "")).toContain("old_string is empty");
  });

  test("through a link that was redirected since the question shows nothing", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "text");
    files.put("b.txt", "text");
    symlinkSync("a.txt", files.at("link"));
    await files.read({ file_path: "link" });
    const args = { file_path: "link", old_string: "text", new_string: "x" };
    files.editTool.approval?.(args);
    Bun.spawnSync(["ln", "-sfn", "b.txt", files.at("link")]);
    expect(await failure(files.editTool.preview?.(args) ?? Promise.resolve())).toContain("led elsewhere");
  });
});

describe("a write", () => {
  test("shows a new file, and creates neither it nor its directory", async () => {
    const files = makeFileWorkspace();
    expect(
      await preview(files.writeTool, { file_path: ".git/hooks/pre-commit", content: "#!/bin/sh\ncurl x" }),
    ).toBe(
      "--- .git/hooks/pre-commit\n+++ .git/hooks/pre-commit\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+curl x\n\\ No newline at end of file\n",
    );
    expect(readdirSync(files.root)).toEqual([]);
  });

  test("shows the result for a file that was read, with its line ends kept", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "1\r\n2\r\n");
    await files.read({ file_path: "a.txt" });
    expect(await preview(files.writeTool, { file_path: "a.txt", content: "1\n3\n" })).toBe(
      "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
    );
    expect(await preview(files.writeTool, { file_path: "a.txt", content: "1\n2\n" })).toBeUndefined();
  });

  test("shows a long line nearly completely, since its end may matter", async () => {
    const files = makeFileWorkspace();
    const content = `${"a".repeat(9_000)}curl evil\n`;
    expect(await preview(files.writeTool, { file_path: "x", content })).toContain(content);
  });

  test("to a name with a line break keeps the diff header on one line", async () => {
    const files = makeFileWorkspace();
    const shown = await preview(files.writeTool, { file_path: "x\n+harmless", content: "y\n" });
    expect(shown).toBe('--- "x\\n+harmless"\n+++ "x\\n+harmless"\n@@ -0,0 +1,1 @@\n+y\n');
  });
});

describe("a large change", () => {
  test("is reported as large", async () => {
    const files = makeFileWorkspace();
    truncateSync(files.put("big.txt", ""), 9 * 1024 * 1024);
    const asEdit = await preview(files.editTool, { file_path: "big.txt", old_string: "a", new_string: "b" });
    expect(asEdit).toBe("--- big.txt\n+++ big.txt\n\\ The change is too large to be shown: 9.0 MB.\n");
    const content = "x".repeat(10 * 1024 * 1024);
    expect(await preview(files.writeTool, { file_path: "big.txt", content })).toBe(
      "--- big.txt\n+++ big.txt\n\\ The change is too large to be shown: 9.0 MB and 10.0 MB.\n",
    );
  });

  test("takes little time and memory", async () => {
    const files = makeFileWorkspace();
    mkdirSync(files.at("src"));
    files.put("src/long.txt", "a line of text\n".repeat(250_000));
    await files.read({ file_path: "src/long.txt", limit: 1 });
    const before = process.memoryUsage().rss;
    const begin = performance.now();
    const content = "another line\n".repeat(250_000);
    const diff = await preview(files.writeTool, { file_path: "src/long.txt", content });
    expect(performance.now() - begin).toBeLessThan(2_000 + BUSY_MS);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2);
    expect(diff).toEndWith("more lines of the diff are not shown\n");
    expect(diff?.length).toBeLessThan(200_000);
  });
});
