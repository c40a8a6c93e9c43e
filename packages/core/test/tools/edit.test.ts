import { describe, expect, test } from "bun:test";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

describe("what is replaced", () => {
  test("the one occurrence is replaced and the result has a diff", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "one\ntwo\nthree\n");
    const result = await files.readAndEdit("a.txt", "two", "2");
    expect(files.text("a.txt")).toBe("one\n2\nthree\n");
    expect(result).toEqual({
      output: `Edited ${files.at("a.txt")} (line 2).`,
      metadata: {
        diff: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        added: 1,
        removed: 1,
        firstLine: 2,
        matchLine: 2,
      },
    });
  });

  test("replacement patterns of JavaScript are written literally", async () => {
    for (const pattern of ["$&", "$$", "$`", "$'", "$1", "\\1", "$<x>"]) {
      const files = makeFileWorkspace();
      files.put("a.txt", "a X b X c\r\n");
      await files.readAndEdit("a.txt", "X", pattern, true);
      expect(files.text("a.txt")).toBe(`a ${pattern} b ${pattern} c\r\n`);
    }
  });

  test("replace_all replaces every occurrence, also several in one line", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "x x\nx\r\ny x");
    const result = await files.readAndEdit("a.txt", "x", "zz", true);
    expect(files.text("a.txt")).toBe("zz zz\nzz\r\ny zz");
    expect(result.output).toBe(`Edited ${files.at("a.txt")} (4 replacements, the first in line 1).`);
  });

  test("half of a character is rejected on either side, and the file stays unchanged", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "a😀b\n");
    const half = "\ud83d";
    expect(await failure(files.readAndEdit("a.txt", half, "x"))).toStartWith(
      "old_string contains half of a character",
    );
    expect(await failure(files.readAndEdit("a.txt", "b", half))).toStartWith(
      "new_string contains half of a character",
    );
    expect(files.text("a.txt")).toBe("a😀b\n");
  });

  test("a megabyte in one line is edited exactly", async () => {
    const files = makeFileWorkspace();
    const [head, tail] = ["a=1;".repeat(130_000), "b=2;".repeat(130_000)];
    files.put("min.js", `${head}needle()${tail}`);
    await files.readAndEdit("min.js", "needle()", "thread()");
    expect(files.text("min.js") === `${head}thread()${tail}`).toBe(true);
  });

  test("a deletion keeps the rest", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "one\ntwo\nthree\n");
    await files.readAndEdit("a.txt", "two\n", "");
    expect(files.text("a.txt")).toBe("one\nthree\n");
  });
});

describe("line ends and byte order mark", () => {
  const cases = [
    ["CRLF", "a\r\nb\r\nc\r\n", "a\nb", "a\nB\nnew", "a\r\nB\r\nnew\r\nc\r\n"],
    ["CRLF, one line made two", "a\r\nb\r\n", "a", "a\nx", "a\r\nx\r\nb\r\n"],
    ["mixed", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nd", "a\r\nB\nc\r\nd\n"],
    ["mixed with a line taken out", "a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nc", "a\r\nc\r\nd\n"],
    ["mixed with lines put in", "a\r\nb\nc\r\n", "a\nb\nc", "a\nx\nb\ny\nc", "a\r\nx\r\nb\ny\nc\r\n"],
    ["lone CR", "a\rb\rc\r", "a\nb", "a\nB\nx", "a\rB\rx\rc\r"],
    ["no final newline", "a\nb", "b", "c", "a\nc"],
    ["no final newline, CRLF", "a\r\nb", "a\nb", "a\nc", "a\r\nc"],
    ["final newline only in old_string", "a\nb", "a\nb\n", "a\nc\n", "a\nc"],
    ["mixed, text after the last line", "a\r\nb\nc", "c", "c\nd", "a\r\nb\nc\nd"],
    ["byte order mark", "\ufeffa\r\nb\r\n", "a\nb", "x\ny", "\ufeffx\r\ny\r\n"],
    ["byte order mark in old_string", "\ufeffa\nb\n", "\ufeffa", "x", "\ufeffx\nb\n"],
    ["CRLF taken out on purpose", "a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n"],
    ["CRLF in both for a file with LF", "a\nb\n", "a\r\nb", "a\r\nc", "a\nc\n"],
    ["CRLF given for a file with lone CR", "a\rb\r", "b", "b\r\nc", "a\rb\rc\r"],
    ["CRLF given for a file with CRLF", "a\r\nb\r\n", "b", "b\r\nc", "a\r\nb\r\nc\r\n"],
  ] as const;
  for (const [name, before, oldString, newString, after] of cases) {
    test(`each line keeps its end: ${name}`, async () => {
      const files = makeFileWorkspace();
      files.put("a.txt", before);
      await files.readAndEdit("a.txt", oldString, newString);
      expect(files.text("a.txt")).toBe(after);
    });
  }
});

describe("a rejected edit", () => {
  test.each(["", "\ufeff"])("has an empty old_string, before the file is read: %j", async (nothing) => {
    const files = makeFileWorkspace();
    expect(await failure(files.edit({ file_path: "none", old_string: nothing, new_string: "x" }))).toBe(
      "old_string is empty. Give the text to replace; to make a file or replace all of it, use write.",
    );
  });

  test("has the same new_string", async () => {
    const files = makeFileWorkspace();
    expect(await failure(files.edit({ file_path: "none", old_string: "x", new_string: "x" }))).toBe(
      "old_string and new_string are the same, so there is nothing to change.",
    );
  });

  test("has two matches, also overlapping ones, and names their lines", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "x\nfoo\n\nfoo\n");
    expect(await failure(files.readAndEdit("a.txt", "foo", "bar"))).toBe(
      `old_string occurs 2 times in ${path} (lines 2, 4). Add lines around it until it occurs once, or set replace_all.`,
    );
    files.put("b.txt", "aaa\n");
    expect(await failure(files.readAndEdit("b.txt", "aa", "b"))).toContain("occurs 2 times");
    expect(files.text("a.txt")).toBe("x\nfoo\n\nfoo\n");
  });

  test("has a file that was not read", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "x");
    expect(await failure(files.edit({ file_path: "a.txt", old_string: "x", new_string: "y" }))).toBe(
      `${path} has not been read in this session. Read it first, then try again.`,
    );
  });

  test.each([
    ["is not there any more", { old_string: "abc", new_string: "y" }],
    ["occurs twice now", { old_string: "d", new_string: "y" }],
    ["is to be replaced everywhere", { old_string: "ab", new_string: "y", replace_all: true }],
    ["differs in white space", { old_string: "ab  d", new_string: "y" }],
  ])("has a file that has changed since where old_string %s", async (_, edit) => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "abc");
    await files.read({ file_path: "a.txt" });
    files.put("a.txt", "ab d d");
    expect(await failure(files.edit({ file_path: "a.txt", ...edit }))).toBe(
      `${path} has changed on disk since it was read. Read it again, then try again with what is there now.`,
    );
    expect(files.text("a.txt")).toBe("ab d d");
  });

  test("an edit with an unaffected old_string is made in a file that has changed, and shows the changes", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "one\ntwo\nthree\nfour\n");
    await files.read({ file_path: "a.txt" });
    files.put("a.txt", "zero\none\ntwo\nthree\nFOUR\n");
    const { output } = await files.edit({ file_path: "a.txt", old_string: "two", new_string: "2" });
    expect(files.text("a.txt")).toBe("zero\none\n2\nthree\nFOUR\n");
    expect(output).toContain("The file had changed since it was read; old_string was not affected.");
    expect(output).toContain("\n+zero\n");
    expect(output).toContain("\n-four\n+FOUR");
    expect(output).not.toContain("-two");
    const again = await files.edit({ file_path: "a.txt", old_string: "one", new_string: "1" });
    expect(again.output).not.toContain("had changed");
  });

  test("a file that was only touched counts as unchanged", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "abd");
    await files.read({ file_path: "a.txt" });
    files.put("a.txt", "abd");
    await files.edit({ file_path: "a.txt", old_string: "ab", new_string: "y" });
    expect(files.text("a.txt")).toBe("yd");
  });

  test("a second edit needs no second read", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "abc");
    await files.readAndEdit("a.txt", "a", "1");
    await files.edit({ file_path: "a.txt", old_string: "c", new_string: "3" });
    expect(files.text("a.txt")).toBe("1b3");
    expect(files.workspace.files.modifiedFiles).toEqual([files.at("a.txt")]);
  });

  test("a missing file is reported with similar names", async () => {
    const files = makeFileWorkspace();
    files.put("config.ts", "x");
    expect(await failure(files.edit({ file_path: "Config.js", old_string: "a", new_string: "b" }))).toBe(
      `There is no file or directory ${files.at("Config.js")}. Did you mean ${files.at("config.ts")}?`,
    );
  });
});
