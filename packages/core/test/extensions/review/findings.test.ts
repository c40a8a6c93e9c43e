import { describe, expect, test } from "bun:test";
import { parseUnifiedDiff } from "../../../src/extensions/review/diff.ts";
import { checkFindings, hasSeverity, planReview, readAnswer } from "../../../src/extensions/review/index.ts";

const FILES = parseUnifiedDiff(
  [
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "@@ -10,2 +10,3 @@",
    " ten",
    "+eleven",
    " twelve",
    "--- a/gone.ts",
    "+++ /dev/null",
    "@@ -1,2 +0,0 @@",
    "-a",
    "-b",
  ].join("\n"),
);
const COUNTS: Readonly<Record<string, number>> = { "src/a.ts": 40, "other.ts": 5 };
const changes = { files: FILES, countLines: async (path: string) => COUNTS[path] };

const check = (...findings: readonly object[]) =>
  checkFindings([JSON.stringify({ findings })], changes, "/project");
const at = (file: string, line: number, severity = "note", message = "m") => ({
  file,
  line,
  severity,
  message,
});

describe("checkFindings()", () => {
  test("keeps a finding in the diff as it is, however its file is written", async () => {
    const written = ["src/a.ts", "b/src/a.ts", "./src/a.ts", "/project/src/a.ts", "src\\a.ts"];
    const { findings } = await check(...written.map((file, index) => at(file, 11, "note", `m${index}`)));
    expect(findings).toEqual(
      written.map((_, index) => ({ file: "src/a.ts", line: 11, severity: "note", message: `m${index}` })),
    );
  });

  test("marks lines outside the diff, moves those that do not exist, and drops files that do not exist", async () => {
    const { findings, dropped } = await check(
      at("src/a.ts", 30, "note", "outside"),
      at("src/a.ts", 4_000, "note", "beyond the end"),
      at("other.ts", 5, "note", "unchanged file"),
      at("other.ts", 6, "note", "beyond its end"),
      at("missing.ts", 1, "note", "no such file"),
      at("../../etc/passwd", 1, "note", "elsewhere"),
      at("gone.ts", 2, "note", "removed line"),
    );
    expect(dropped).toBe(3);
    expect(findings).toEqual([
      { file: "gone.ts", line: 2, severity: "note", message: "removed line" },
      { file: "other.ts", line: 5, severity: "note", message: "unchanged file", inDiff: false },
      { file: "src/a.ts", line: 10, severity: "note", message: "beyond the end", inDiff: false },
      { file: "src/a.ts", line: 30, severity: "note", message: "outside", inDiff: false },
    ]);
  });

  test("lists the most serious first, and a finding of two parts once", async () => {
    const answer = (...findings: readonly object[]) => JSON.stringify({ findings });
    const { findings } = await checkFindings(
      [
        answer(at("src/a.ts", 12, "note"), at("src/a.ts", 11, "error")),
        answer(at("src/a.ts", 11, "error"), at("src/a.ts", 10, "warning")),
      ],
      changes,
      "/project",
    );
    expect(findings.map(({ severity, line }) => `${severity} ${line}`)).toEqual([
      "error 11",
      "warning 10",
      "note 12",
    ]);
  });
});

test("a level to fail on includes the more serious ones", () => {
  const found = (severity: "note" | "warning" | "error") => [{ file: "a", line: 1, severity, message: "m" }];
  const levels = ["note", "warning", "error"] as const;
  expect(levels.map((least) => levels.map((severity) => hasSeverity(found(severity), least)))).toEqual([
    [true, true, true],
    [false, true, true],
    [false, false, true],
  ]);
  expect(hasSeverity([], "note")).toBe(false);
});

test.each([
  ['{"findings":[]}', true],
  ['```json\n{"findings":[]}\n```', true],
  ["No problems.", false],
  ['{"findings":[{"file":"a","line":0,"severity":"note","message":"m"}]}', false],
  ['{"findings":[{"file":"a","line":1,"severity":"fatal","message":"m"}]}', false],
  ['{"findings":[],"more":1}', false],
])("readAnswer() takes %s: %p", (answer, isUsable) => {
  expect("answer" in readAnswer(answer)).toBe(isUsable);
});

test("planReview() divides a diff by the model's window, and says what to do about one that is far too large", () => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `+line ${index}`);
  const files = parseUnifiedDiff(
    ["--- /dev/null", "+++ b/a.txt", `@@ -0,0 +1,${lines.length} @@`, ...lines].join("\n"),
  );
  const plan = (contextWindow: number) => planReview({ title: "the staged changes", files }, contextWindow);
  const large = plan(200_000);
  const small = plan(16_000);
  expect("prompts" in large && large.prompts.map((prompt) => prompt.split("\n")[0])).toEqual([
    "Review the staged changes (1 file).",
  ]);
  expect("prompts" in small && small.prompts[1]?.split("\n")[0]).toMatch(
    /^Review the staged changes \(1 file, part 2 of \d\)\.$/,
  );
  const many = Array.from({ length: 40 }, (_, index) => ({ ...files[0], path: `f${index}.txt` })).flatMap(
    (file) =>
      file.hunks === undefined ? [] : [{ change: "added" as const, hunks: file.hunks, path: file.path }],
  );
  expect(planReview({ title: "x", files: many }, 16_000)).toEqual({
    problem: expect.stringContaining("name a smaller range"),
  });
});
