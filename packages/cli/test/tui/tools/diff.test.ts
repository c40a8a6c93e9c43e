import { describe, expect, test } from "bun:test";
import { findChangedWords, parseDiff, renderDiff } from "../../../src/tui/blocks/diff.ts";
import { createTheme } from "../../../src/tui/theme.ts";

const options = { width: 40, theme: createTheme({ color: false }), maxLines: 100 };

describe("parseDiff()", () => {
  test("names the files of a diff of several ones, but takes no line of a file for such a name", () => {
    const diff =
      "--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n same\n--- b.ts\n+++ b.ts\n@@ -4,1 +4,1 @@\n-one\n+two\n";
    expect(parseDiff(diff)).toEqual([
      { type: "file", text: "a.ts" },
      { type: "removed", number: 1, text: "-- x" },
      { type: "added", number: 1, text: "++ y" },
      { type: "same", number: 2, text: "same" },
      { type: "file", text: "b.ts" },
      { type: "removed", number: 4, text: "one" },
      { type: "added", number: 4, text: "two" },
    ]);
  });

  test("counts the lines of both texts, including lines that look like headers", () => {
    const diff =
      "--- a\n+++ a\n@@ -7,3 +9,4 @@ function\n a\n--- b\n+++ c\n+d\n@@ -20 +30 @@\n-e\n+f\n\\ No newline at end of file\n";
    expect(parseDiff(diff)).toEqual([
      { type: "same", number: 9, text: "a" },
      { type: "removed", number: 8, text: "-- b" },
      { type: "added", number: 10, text: "++ c" },
      { type: "added", number: 11, text: "d" },
      { type: "gap" },
      { type: "removed", number: 20, text: "e" },
      { type: "added", number: 30, text: "f" },
      { type: "note", text: "No newline at end of file" },
    ]);
  });

  test("returns nothing for text that is not a diff", () => {
    expect(parseDiff("")).toEqual([]);
    expect(parseDiff("-a\n+b\n")).toEqual([]);
  });
});

describe("findChangedWords()", () => {
  test("returns the words that differ", () => {
    expect(findChangedWords("const a = round(b);", "const a = floor(b, c);")).toEqual({
      before: [
        { text: "const a = ", isChanged: false },
        { text: "round", isChanged: true },
        { text: "(b);", isChanged: false },
      ],
      after: [
        { text: "const a = ", isChanged: false },
        { text: "floor", isChanged: true },
        { text: "(b", isChanged: false },
        { text: ", c", isChanged: true },
        { text: ");", isChanged: false },
      ],
    });
  });

  test("returns nothing for lines that have little in common, and for very long ones", () => {
    expect(findChangedWords("return shares;", "for (;;) share();")).toBeUndefined();
    expect(findChangedWords("a ".repeat(300), `${"a ".repeat(299)}b`)).toBeUndefined();
    expect(findChangedWords("", "")).toBeUndefined();
  });
});

describe("renderDiff()", () => {
  test("aligns numbers, and continues long lines below, up to a number of rows", () => {
    const diff = `@@ -98,3 +98,3 @@\n a\n-${"old words ".repeat(5)}\n+new\n b\n`;
    expect(renderDiff(diff, options)).toEqual([
      " 98   a",
      " 99 - old words old words old words old",
      "    - words old words",
      " 99 + new",
      "100   b",
    ]);
    const cut = (maxRowsPerLine: number) => renderDiff(diff, { ...options, maxRowsPerLine });
    expect(cut(2)).toEqual(renderDiff(diff, options));
    expect(cut(1)).toEqual([" 98   a", " 99 - old words old words old words old…", " 99 + new", "100   b"]);
    const one = `@@ -1 +1 @@\n-${"x".repeat(1_000_000)}\n+${"y ".repeat(60)}\n`;
    expect(renderDiff(one, { ...options, maxRowsPerLine: 2 })).toEqual([
      `1 - ${"x".repeat(36)}`,
      `  - ${"x".repeat(35)}…`,
      `1 + ${"y ".repeat(18).trimEnd()}`,
      `  + ${"y ".repeat(18).trimEnd()}…`,
    ]);
  });

  test("counts the lines beyond the limit", () => {
    const diff =
      "@@ -1,4 +1,4 @@\n a\n-b\n-c\n+d\n+e\n f\n@@ -9 +9 @@\n-g\n+h\n\\ No newline at end of file\n";
    expect(renderDiff(diff, { ...options, maxLines: 2 })).toEqual([
      "1   a",
      "2 - b",
      "… 8 more lines (+3 −2)",
    ]);
    expect(renderDiff(diff, options).slice(-4)).toEqual([
      "  ⋯",
      "9 - g",
      "9 + h",
      "  No newline at end of file",
    ]);
  });

  test("highlights words that differ, even if there are more new lines than old ones", () => {
    const diff = "@@ -1 +1,2 @@\n-a = round(b)\n+// why\n+a = floor(b)\n";
    expect(renderDiff(diff, { ...options, theme: createTheme({ color: true }) })).toEqual([
      "\x1b[2m1\x1b[22m \x1b[31m- a = \x1b[7mround\x1b[27m(b)\x1b[39m",
      "\x1b[2m1\x1b[22m \x1b[32m+ // why\x1b[39m",
      "\x1b[2m2\x1b[22m \x1b[32m+ a = \x1b[7mfloor\x1b[27m(b)\x1b[39m",
    ]);
  });
});
