import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type WrittenKnowledge, writeKnowledge as writeInto } from "../support/knowledge-files.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const SESSION = "20260225103000-abcdef";

function writeKnowledge(...entries: WrittenKnowledge[]): void {
  writeInto(place, ...entries);
}

async function run(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["knowledge", ...args]);
  return { stdout, stderr, exitCode };
}

const out = (stdout: string) => ({ stdout, stderr: "", exitCode: 0 });
const wrong = (message: string) => ({ stdout: "", stderr: `diligent: ${message}\n`, exitCode: 2 });

async function listedIds(): Promise<string[]> {
  return JSON.parse((await run("--json")).stdout).map(({ id }: { id: string }) => id);
}

function fileText(): string {
  return readFileSync(join(place.project, ".diligent/knowledge/knowledge.jsonl"), "utf8");
}

describe("knowledge show", () => {
  test("prints all details, with the replaced entries and the replacement", async () => {
    place.write("src/a.ts", "new");
    writeKnowledge(
      { id: "aaaaaaaa", content: "First.", daysAgo: 3 },
      {
        id: "bbbbbbbb",
        content: "Second,\nin two lines.",
        type: "decision",
        supersedes: "aaaaaaaa",
        sessionId: SESSION,
        entryId: "12345678",
        tags: ["x", "y"],
        daysAgo: 1,
        files: [{ path: "src/a.ts", hash: "0" }],
      },
      { id: "cccccccc", content: "Third.", supersedes: "bbbbbbbb" },
    );
    const { stdout, exitCode } = await run("show", "bb");
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
    expect([stdout.replace(new RegExp(time, "g"), "TIME"), exitCode]).toEqual([
      `Knowledge   bbbbbbbb
Type        decision
Confidence  0.80
Score       0.78
Recorded    TIME (1 day ago)
Session     ${SESSION}
Entry       12345678
Tags        x, y
Files       src/a.ts
Stale       possibly: src/a.ts has changed since

    Second,
    in two lines.

Replaced by cccccccc, pattern, TIME (1 minute ago):

    Third.

Replaces aaaaaaaa, pattern, TIME (3 days ago):

    First.
`,
      0,
    ]);
    expect(JSON.parse((await run("show", "bbbbbbbb", "--json")).stdout)).toMatchObject({
      id: "bbbbbbbb",
      entryId: "12345678",
      changedFile: "src/a.ts",
      replacedBy: [{ id: "cccccccc" }],
      replaced: [{ id: "aaaaaaaa" }],
    });
  });

  test("ends if entries replace each other in a cycle", async () => {
    writeKnowledge(
      { id: "aaaaaaaa", content: "A.", supersedes: "bbbbbbbb" },
      { id: "bbbbbbbb", content: "B.", supersedes: "aaaaaaaa" },
    );
    expect(JSON.parse((await run("show", "a", "--json")).stdout).replaced).toMatchObject([
      { id: "bbbbbbbb" },
    ]);
  });
});

describe("knowledge rm", () => {
  test("removes entries with those that they had replaced; the file only grows", async () => {
    writeKnowledge(
      { id: "aaaaaaaa", content: "First." },
      { id: "bbbbbbbb", content: "Second.", supersedes: "aaaaaaaa" },
      { id: "cccccccc", content: "Third." },
      { id: "dddddddd", content: "Stays." },
    );
    const before = fileText();
    expect(await run("rm", "b", "cccccccc")).toEqual(
      out(
        "Removed bbbbbbbb: Second.\nRemoved aaaaaaaa, which it had replaced: First.\nRemoved cccccccc: Third.\n",
      ),
    );
    expect(fileText()).toStartWith(before);
    expect(await listedIds()).toEqual(["dddddddd"]);
    expect(await run("rm", "dddddddd", "--json")).toEqual(out('{\n  "removed": [\n    "dddddddd"\n  ]\n}\n'));
    expect(await run()).toEqual(out("No knowledge yet.\n"));
  });

  test("with an unknown id suggests the nearest and removes nothing, not even other named entries", async () => {
    writeKnowledge({ id: "1234abcd", content: "One." }, { id: "99999999", content: "Two." });
    const before = fileText();
    expect(await run("rm", "99999999", "1234abcf")).toEqual(
      wrong("no knowledge 1234abcf; did you mean 1234abcd (One.)"),
    );
    expect(await run("rm", "zzz")).toEqual(
      wrong("no knowledge zzz; the newest are 99999999 (Two.), 1234abcd (One.)"),
    );
    expect(fileText()).toBe(before);
  });

  test("with an ambiguous id prefix lists the ids", async () => {
    writeKnowledge({ id: "aa000000", content: "One." }, { id: "aa111111", content: "Two." });
    expect(await run("rm", "aa")).toEqual(wrong("2 ids begin with aa: aa000000 (One.), aa111111 (Two.)"));
    expect(await run("rm", "")).toMatchObject({ exitCode: 2 });
  });
});

describe("knowledge prune", () => {
  beforeEach(() =>
    writeKnowledge(
      { id: "aaaaaaaa", content: "Replaced." },
      { id: "bbbbbbbb", content: "Replaces.", supersedes: "aaaaaaaa" },
      { id: "cccccccc", content: "Still counts.", daysAgo: 119 },
      { id: "dddddddd", content: "Has faded.", daysAgo: 121 },
      { id: "eeeeeeee", content: "Counts, as a correction.", type: "correction", daysAgo: 121 },
    ),
  );

  test("removes replaced entries and those with a score below 0.05, and reports how many", async () => {
    expect(await run("prune")).toEqual(out("Removed 2 entries: 1 replaced, 1 faded.\n"));
    expect((await listedIds()).sort()).toEqual(["bbbbbbbb", "cccccccc", "eeeeeeee"]);
    expect(await run("prune")).toEqual(out("Removed 0 entries: 0 replaced, 0 faded.\n"));
  });

  test("with --dry-run only lists them", async () => {
    const before = fileText();
    expect(await run("prune", "--dry-run")).toEqual(
      out("aaaaaaaa (Replaced.)\ndddddddd (Has faded.)\nWould remove 2 entries: 1 replaced, 1 faded.\n"),
    );
    expect(JSON.parse((await run("prune", "--dry-run", "--json")).stdout)).toEqual({
      replaced: ["aaaaaaaa"],
      faded: ["dddddddd"],
      isDryRun: true,
    });
    expect(fileText()).toBe(before);
  });
});

test("knowledge prints hostile text as text", async () => {
  writeKnowledge({
    id: "\x1b[2Jaaaa",
    content: "\x1b]0;title\x07\u202e\x9b31m",
    sessionId: "\x1b[31m",
    entryId: "\r\x1bc",
    tags: ["\x07"],
    files: [{ path: "\x1b[1mgone.ts", hash: "0" }],
  });
  for (const args of [
    ["list"],
    ["list", "--json"],
    ["show", "\x1b[2J"],
    ["prune", "--dry-run"],
    ["rm", "nothing"],
  ]) {
    const { stdout, stderr } = await run(...args);
    expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}/u);
    // In JSON it is a value like any other.
    if (!args.includes("--json")) expect(stdout).not.toContain("\u202e");
  }
});

test("knowledge reports an unreadable file with exit code 2", async () => {
  mkdirSync(join(place.project, ".diligent"));
  symlinkSync(place.home, join(place.project, ".diligent", "knowledge"));
  const { stderr, exitCode } = await run();
  expect([stderr, exitCode]).toEqual([
    `diligent: ${join(place.project, ".diligent/knowledge")} is a symbolic link; knowledge is only saved in a real directory\n`,
    2,
  ]);
});

test.each([
  [["lst"], "knowledge: unknown action lst (did you mean list?)"],
  [["xyzzy"], "knowledge: unknown action xyzzy (see diligent knowledge --help)"],
  [["constructor"], "knowledge: unknown action constructor (see diligent knowledge --help)"],
  [["show"], "knowledge show needs an ID (see diligent knowledge list)"],
  [["show", "a", "b"], "knowledge show takes one ID, not also b"],
  [["rm"], "knowledge rm needs an ID (see diligent knowledge list)"],
  [["list", "a"], "knowledge list takes no id: a"],
  [["rm", "a", "--dry-run"], "knowledge: --dry-run needs prune"],
  [["rm", "a"], "no knowledge a; there is none yet"],
  [["--jsn"], "knowledge: unknown option --jsn (did you mean --json?)"],
])("knowledge refuses %p with its own message", async (args, message) => {
  expect(await run(...args)).toEqual(wrong(message));
});

test("knowledge --help explains itself", async () => {
  const { stdout, exitCode } = await run("--help");
  expect(exitCode).toBe(0);
  expect(stdout).toStartWith("diligent knowledge: ");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThan(120);
});
