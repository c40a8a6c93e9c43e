import { describe, expect, test } from "bun:test";
import {
  DiffError,
  divideDiff,
  formatFile,
  parseUnifiedDiff,
  shownLines,
} from "../../../src/extensions/review/diff.ts";

const CHANGED = [
  "diff --git a/src/a.ts b/src/a.ts",
  "index 1111111..2222222 100644",
  "--- a/src/a.ts",
  "+++ b/src/a.ts",
  "@@ -1,3 +1,4 @@ function f() {",
  " one",
  "-two",
  "+TWO",
  "+three",
  " four",
  "\\ No newline at end of file",
].join("\n");

describe("parseUnifiedDiff()", () => {
  test("reads changed, added, removed, renamed and binary files as git writes them", () => {
    const text = [
      CHANGED,
      "diff --git a/new.txt b/new.txt",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/new.txt",
      "@@ -0,0 +1 @@",
      "+new",
      "diff --git a/old.txt b/old.txt",
      "deleted file mode 100644",
      "--- a/old.txt",
      "+++ /dev/null",
      "@@ -1,2 +0,0 @@",
      "-a",
      "-b",
      "diff --git a/from.txt b/to.txt",
      "similarity index 100%",
      "rename from from.txt",
      "rename to to.txt",
      "diff --git a/pic.png b/pic.png",
      "Binary files a/pic.png and b/pic.png differ",
      "",
    ].join("\n");
    expect(parseUnifiedDiff(text).map(({ hunks, ...file }) => ({ ...file, hunks: hunks.length }))).toEqual([
      { path: "src/a.ts", change: "changed", hunks: 1 },
      { path: "new.txt", change: "added", hunks: 1 },
      { path: "old.txt", change: "removed", hunks: 1 },
      { path: "to.txt", change: "changed", hunks: 0, earlierPath: "from.txt" },
      { path: "pic.png", change: "changed", hunks: 0, isBinary: true },
    ]);
  });

  test("takes lines of a hunk for content, even if they look like headers", () => {
    const text = [
      "--- a.sql\t2026-01-01",
      "+++ a.sql\t2026-01-02",
      "@@ -1,2 +1,2 @@",
      "--- a comment",
      "-diff --git a/x b/x",
      "+++ more",
      "+@@ -1 +1 @@",
      "--- b.sql",
      "+++ b.sql",
      "@@ -1 +1 @@",
      "-x",
      "+y",
    ].join("\n");
    expect(
      parseUnifiedDiff(text).map(({ path, hunks }) => [path, hunks.map(({ lines }) => lines.length)]),
    ).toEqual([
      ["a.sql", [4]],
      ["b.sql", [1 + 1]],
    ]);
  });

  test("decodes names that git has quoted", () => {
    const text = 'diff --git "a/\\303\\244 \\"q\\".txt" "b/\\303\\244 \\"q\\".txt"\nnew file mode 100644\n';
    expect(parseUnifiedDiff(text)[0]?.path).toBe('ä "q".txt');
  });

  test("reads a diff with CRLF line ends and emptied context lines", () => {
    const [file] = parseUnifiedDiff("--- a/x\r\n+++ b/x\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n");
    expect([file?.path, file?.hunks[0]?.lines.length]).toEqual(["x", 4]);
  });

  test.each([
    ["combined", "diff --cc a.txt\n@@@ -1,1 -1,1 +1,1 @@@\n  a\n"],
    ["cut off", "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a"],
    ["no file", "@@ -1 +1 @@\n-a\n+b\n"],
    ["begins with none", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\nnot a diff\n"],
  ])("refuses a diff that is %s", (reason, text) => {
    const read = () => parseUnifiedDiff(text);
    expect(read).toThrow(DiffError);
    expect(read).toThrow(reason);
  });
});

test("a file is written as it was read, and its shown lines are those of the new version", () => {
  const [file] = parseUnifiedDiff(CHANGED);
  if (!file) throw new Error("no file");
  expect(formatFile(file)).toBe(CHANGED.replace(/^index .*\n/m, ""));
  expect(file.hunks.map((hunk) => shownLines(file, hunk))).toEqual([[1, 4]]);
});

describe("divideDiff()", () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `+line ${index + 1}`);
  const files = parseUnifiedDiff(
    [
      "--- /dev/null",
      "+++ b/large.txt",
      `@@ -0,0 +1,${lines.length} @@`,
      ...lines,
      "--- a/small.txt",
      "+++ b/small.txt",
      "@@ -7 +7 @@",
      "-x",
      "+y",
    ].join("\n"),
  );

  test("continues a large file in further parts, each of which can be read with the same line numbers", () => {
    const parts = divideDiff(files, 8_000);
    const read = parts.map(parseUnifiedDiff);
    const numbered = read
      .flat()
      .flatMap(({ path, hunks }) =>
        hunks.flatMap(({ newStart, lines: each }) =>
          each.filter((line) => line[0] === "+").map((line, index) => `${path}:${newStart + index} ${line}`),
        ),
      );
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.every((part) => part.length <= 8_000)).toBe(true);
    expect(numbered).toEqual([
      ...lines.map((line, index) => `large.txt:${index + 1} ${line}`),
      "small.txt:7 +y",
    ]);
  });

  test("shortens only a line that alone is too long", () => {
    const text = `--- a/min.js\n+++ b/min.js\n@@ -1 +1 @@\n-a\n+${"x".repeat(100_000)}`;
    const parts = divideDiff(parseUnifiedDiff(text), 8_000);
    expect(parts).toHaveLength(1);
    expect(parts[0]).toContain("… (96001 more characters)");
  });
});
