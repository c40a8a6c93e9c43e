import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

describe("a new file", () => {
  test("is created with its directories, with the user's usual permissions", async () => {
    const files = makeFileWorkspace();
    const umask = process.umask();
    expect(await files.write({ file_path: "a/b/c.txt", content: "one\ntwo\n" })).toEqual({
      output: `Created ${files.at("a/b/c.txt")} (2 lines).`,
      metadata: {
        diff: "--- a/b/c.txt\n+++ a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        added: 2,
        removed: 0,
        created: true,
      },
    });
    expect(files.text("a/b/c.txt")).toBe("one\ntwo\n");
    expect(statSync(files.at("a/b/c.txt")).mode & 0o777).toBe(0o666 & ~umask);
    expect(statSync(files.at("a/b")).mode & 0o777).toBe(0o777 & ~umask);
    expect(readdirSync(files.at("a/b"))).toEqual(["c.txt"]);
  });

  test("can be edited and overwritten without a read", async () => {
    const files = makeFileWorkspace();
    await files.write({ file_path: "a.txt", content: "one" });
    await files.edit({ file_path: "a.txt", old_string: "one", new_string: "two" });
    await files.write({ file_path: "a.txt", content: "three" });
    expect(files.text("a.txt")).toBe("three");
    expect(files.workspace.files.modifiedFiles).toEqual([files.at("a.txt")]);
  });

  test("below a linked directory is created at the link's target", async () => {
    const files = makeFileWorkspace();
    mkdirSync(files.at("real"));
    symlinkSync("real", files.at("link"));
    await files.write({ file_path: "link/new/a.txt", content: "x" });
    expect(files.text("real/new/a.txt")).toBe("x");
    expect(lstatSync(files.at("link")).isSymbolicLink()).toBe(true);
  });

  test("leaves no directory behind if it cannot be created", async () => {
    const files = makeFileWorkspace();
    const message = await failure(files.write({ file_path: `new/${"x".repeat(300)}`, content: "x" }));
    expect(message).toContain("the name is too long (ENAMETOOLONG)");
    expect(readdirSync(files.root)).toEqual([]);
  });
});

describe("an existing file", () => {
  test("that was not read is not overwritten", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "old");
    expect(await failure(files.write({ file_path: "a.txt", content: "new" }))).toBe(
      `${path} has not been read in this session. Read it first, then try again.`,
    );
    expect(files.text("a.txt")).toBe("old");
  });

  test("that has changed since is not overwritten", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "old");
    await files.read({ file_path: "a.txt" });
    files.put("a.txt", "OLD");
    expect(await failure(files.write({ file_path: "a.txt", content: "new" }))).toContain(
      "has changed on disk",
    );
    expect(files.text("a.txt")).toBe("OLD");
  });

  test("that was partly read may be replaced", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "1\n2\n3\n");
    await files.read({ file_path: "a.txt", limit: 1 });
    expect(await files.write({ file_path: "a.txt", content: "1\n2\n" })).toEqual({
      output: `Overwrote ${files.at("a.txt")} (2 lines, previously 3 lines).`,
      metadata: { diff: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,2 @@\n 1\n 2\n-3\n", added: 0, removed: 1 },
    });
  });

  test("keeps its byte order mark and its line ends", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "\ufeffa\r\nb\r\n");
    await files.read({ file_path: "a.txt" });
    const { output } = await files.write({ file_path: "a.txt", content: "x\ny\n" });
    expect(files.text("a.txt")).toBe("\ufeffx\r\ny\r\n");
    expect(output).toEndWith("(2 lines, previously 2 lines). Its CRLF line endings were kept.");
    await files.write({ file_path: "a.txt", content: "x\r\ny\n" });
    expect(files.text("a.txt")).toBe("\ufeffx\r\ny\n");
  });

  test("keeps its mode, setgid included", async () => {
    for (const mode of [0o755, 0o600, 0o2755, 0o644]) {
      const files = makeFileWorkspace();
      chmodSync(files.put("a.sh", "old"), mode);
      await files.read({ file_path: "a.sh" });
      await files.write({ file_path: "a.sh", content: "new" });
      expect(statSync(files.at("a.sh")).mode & 0o7777).toBe(mode);
      expect(readdirSync(files.root)).toEqual(["a.sh"]);
    }
  });

  test("keeps its other names", async () => {
    const files = makeFileWorkspace();
    linkSync(files.put("a.txt", "a longer old content"), files.at("b.txt"));
    await files.readAndEdit("a.txt", "a longer old", "new");
    expect(files.text("b.txt")).toBe("new content");
    expect(statSync(files.at("a.txt")).ino).toBe(statSync(files.at("b.txt")).ino);
    await files.write({ file_path: "a.txt", content: "now it is longer than it was" });
    expect(files.text("b.txt")).toBe("now it is longer than it was");
    expect(readdirSync(files.root).sort()).toEqual(["a.txt", "b.txt"]);
  });

  test("is written through a chain of links, which stay", async () => {
    const files = makeFileWorkspace();
    files.put("real/a.txt", "old");
    symlinkSync("real/a.txt", files.at("two"));
    symlinkSync("two", files.at("one"));
    await files.read({ file_path: "one" });
    await files.write({ file_path: "one", content: "new" });
    expect(files.text("real/a.txt")).toBe("new");
    expect([readlinkSync(files.at("one")), readlinkSync(files.at("two"))]).toEqual(["two", "real/a.txt"]);
  });

  test("with exactly that content is not written", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "same");
    const before = statSync(path).mtimeMs;
    await files.read({ file_path: "a.txt" });
    const { output } = await files.write({ file_path: "a.txt", content: "same" });
    expect(output).toBe(`${path} already has exactly this content; nothing was written.`);
    expect(statSync(path).mtimeMs).toBe(before);
  });
});

describe("a rejected write", () => {
  test("has a dangling link or a cycle of links", async () => {
    const files = makeFileWorkspace();
    symlinkSync("gone.txt", files.at("dangling"));
    symlinkSync("b", files.at("a"));
    symlinkSync("a", files.at("b"));
    symlinkSync("gone", files.at("directory"));
    expect(await failure(files.write({ file_path: "dangling", content: "x" }))).toBe(
      `${files.at("dangling")} is a symbolic link to gone.txt, which does not exist. Use the path of a real file.`,
    );
    expect(await failure(files.write({ file_path: "a", content: "x" }))).toContain(
      "lead in a circle (ELOOP)",
    );
    expect(await failure(files.write({ file_path: "directory/x", content: "x" }))).toContain(
      "is a symbolic link to gone",
    );
    expect(readdirSync(files.root).sort()).toEqual(["a", "b", "dangling", "directory"]);
  });

  test("has a directory, or a path through a file", async () => {
    const files = makeFileWorkspace();
    files.put("file", "x");
    mkdirSync(files.at("dir"));
    expect(await failure(files.write({ file_path: "dir", content: "x" }))).toBe(
      `${files.at("dir")} is a directory. Give the path of a file.`,
    );
    expect(await failure(files.write({ file_path: "new/", content: "x" }))).toContain(
      "new/ names a directory",
    );
    expect(await failure(files.write({ file_path: "file/x", content: "x" }))).toContain(
      "a file, not a directory",
    );
  });

  test("has a link that leads elsewhere than when it was allowed", async () => {
    const files = makeFileWorkspace();
    const outside = files.put("outside.txt", "secret");
    files.put("inside.txt", "old");
    symlinkSync("inside.txt", files.at("link"));
    await files.read({ file_path: "outside.txt" });
    const args = { file_path: "link", content: "new" };
    files.writeTool.approval?.(args);
    Bun.spawnSync(["ln", "-sfn", outside, files.at("link")]);
    const context = {
      toolCallId: "call_1",
      signal: new AbortController().signal,
      approve: async () => "once" as const,
    };
    expect(await failure(files.writeTool.execute(args, context))).toBe(
      `${files.at("link")} led elsewhere when it was approved; now it leads to ${outside}. Try again.`,
    );
    expect(files.text("outside.txt")).toBe("secret");
  });

  test("was interrupted before it wrote", async () => {
    const files = makeFileWorkspace();
    const context = {
      toolCallId: "call_1",
      signal: AbortSignal.abort(),
      approve: async () => "once" as const,
    };
    await failure(files.writeTool.execute({ file_path: "a.txt", content: "x" }, context));
    expect(readdirSync(files.root)).toEqual([]);
  });
});

test("contains half of a character, and nothing is written", async () => {
  const files = makeFileWorkspace();
  const written = files.write({ file_path: "a.txt", content: "a\ud83d" });
  expect(await failure(written)).toStartWith("content contains half of a character");
  expect(existsSync(files.at("a.txt"))).toBe(false);
});

test("a file that appears in the meantime is not overwritten", async () => {
  const files = makeFileWorkspace();
  const args = { file_path: "a.txt", content: "mine" };
  files.writeTool.approval?.(args);
  writeFileSync(files.at("a.txt"), "theirs");
  expect(await failure(files.write(args))).toContain("has not been read in this session");
  expect(files.text("a.txt")).toBe("theirs");
});
