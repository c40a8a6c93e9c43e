import { expect, test } from "bun:test";
import { createUnifiedDiff } from "../../src/tools/edit/unified-diff.ts";

const rows = (count: number, text = "row") =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}\n`).join("");

test("a change far down has the line numbers of the file", async () => {
  const before = rows(100);
  const after = before.replace("row 50\n", "new\nlines\n");
  expect(await createUnifiedDiff("a", before, after)).toEqual({
    diff: "--- a\n+++ a\n@@ -47,7 +47,8 @@\n row 47\n row 48\n row 49\n-row 50\n+new\n+lines\n row 51\n row 52\n row 53\n",
    added: 2,
    removed: 1,
    firstLine: 50,
  });
});

test("identical texts have no diff", async () => {
  expect(await createUnifiedDiff("a", "x\n", "x\n")).toEqual({
    diff: "",
    added: 0,
    removed: 0,
    firstLine: 1,
  });
});

test("CR is left out if every line has it, and shown if line ends change", async () => {
  expect((await createUnifiedDiff("a", "x\r\ny\r\n", "x\r\nz\r\n")).diff).toBe(
    "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
  );
  expect((await createUnifiedDiff("a", "x\r\n", "x\n")).diff).toBe(
    "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\r\n+x\n",
  );
});

test("a missing newline at the end is marked", async () => {
  expect((await createUnifiedDiff("a", "x", "x\n")).diff).toBe(
    "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n",
  );
});

test("a diff is accepted by the patch program", async () => {
  const before = rows(40);
  const after = before
    .replace("row 3\n", "")
    .replace("row 20\n", "row 20\nmore\n")
    .replace("row 39\n", "other\n");
  const { diff, added, removed } = await createUnifiedDiff("a", before, after);
  expect([added, removed]).toEqual([2, 2]);
  expect(diff.match(/@@.*@@/g)).toEqual(["@@ -1,6 +1,5 @@", "@@ -18,6 +17,7 @@", "@@ -36,5 +36,5 @@"]);
});

test("thousands of changes become one replaced block, truncated to a readable length", async () => {
  const { diff, added, removed, firstLine } = await createUnifiedDiff("a", rows(5_000), rows(5_000, "ROW"));
  expect([added, removed, firstLine]).toEqual([5_000, 5_000, 1]);
  expect(diff).toStartWith("--- a\n+++ a\n@@ -1,5000 +1,5000 @@\n-row 1\n-row 2\n");
  expect(diff).toEndWith("-row 1999\n\\ 8001 more lines of the diff are not shown\n");
});

test("a large new file is shown from its beginning", async () => {
  const { diff, added, removed } = await createUnifiedDiff("a", "", rows(3_000));
  expect([added, removed]).toEqual([3_000, 0]);
  expect(diff).toStartWith("--- a\n+++ a\n@@ -0,0 +1,3000 @@\n+row 1\n");
});

test("long lines are truncated", async () => {
  const { diff } = await createUnifiedDiff("a", `${"x".repeat(100_000)}a`, `${"x".repeat(100_000)}b`);
  expect(diff.length).toBeLessThan(1_200);
});
