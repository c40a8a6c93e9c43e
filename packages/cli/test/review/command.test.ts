import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import SARIF_SCHEMA from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json";
import Ajv from "ajv";
import { git } from "../../../core/test/support/git-repository.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  git(place.project, "init", "-q");
  place.write("src/a.ts", "one\ntwo\nthree\n");
  git(place.project, "add", "-A");
  git(place.project, "commit", "-qm", "first");
  place.write("src/a.ts", "one\nTWO\nthree\n");
});

afterEach(() => place.remove());

const FINDINGS = [
  { file: "src/a.ts", line: 2, severity: "warning", message: "Upper case.\nUse lower case." },
  { file: "src/a.ts", line: 1, severity: "error", message: "Wrong \u001b[31mred\u202e." },
  { file: "src/a.ts", line: 300, severity: "note", message: "Far away." },
  { file: "none.ts", line: 1, severity: "error", message: "Invented." },
];
const answer = (findings: readonly object[]) => ({ text: JSON.stringify({ findings }) });

function play(
  turns: readonly object[],
  args: readonly string[],
  options: { stdin?: string; cwd?: string } = {},
) {
  const script = place.write("../script.json", { version: 1, turns });
  const [before, after] = args[0] === "-C" ? [args.slice(0, 2), args.slice(2)] : [[], args];
  return runDiligent(place, [...before, "review", "-m", `scripted/${script}`, ...after], options);
}

function sessionNames(): string[] {
  const directory = join(place.project, ".diligent", "sessions");
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".jsonl")) : [];
}

function sessionLines(names = sessionNames()): Record<string, unknown>[][] {
  const directory = join(place.project, ".diligent", "sessions");
  return names.map((name) =>
    readFileSync(join(directory, name), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
}

describe("diligent review", () => {
  test("prints a line for each finding with the worst first, on stdout alone, and ends with 0", async () => {
    const { stdout, stderr, exitCode } = await play([answer(FINDINGS)], []);
    expect(stdout).toBe(
      [
        "src/a.ts:1: error: Wrong \\x1b[31mred\\u{202e}.",
        "src/a.ts:2: warning: Upper case. Use lower case.",
        "src/a.ts:1: note: Far away. (not in the diff)",
        "3 findings (1 error, 1 warning, 1 note) in the uncommitted changes.",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("note: 1 finding was dropped: it names a file or a line that does not exist.\n");
    expect(exitCode).toBe(0);
  });

  test("prints the findings as JSON, as they are", async () => {
    const { stdout } = await play([answer(FINDINGS)], ["--format", "json"]);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(JSON.parse(stdout)).toEqual([
      FINDINGS[1],
      FINDINGS[0],
      { file: "src/a.ts", line: 1, severity: "note", message: "Far away.", inDiff: false },
    ]);
  });

  test.each([
    ["with findings", FINDINGS],
    ["without any", []],
  ])("writes SARIF %s that is valid by its JSON Schema", async (_, findings) => {
    // Draft 4 names the schema by `id`, which later drafts do not know; nothing else here differs.
    const { $schema: _draft, id: _id, ...schema } = SARIF_SCHEMA;
    const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
    place.write("a b:ü.txt", "new\n");
    const named = { file: "a b:ü.txt", line: 1, severity: "note", message: "Name." };
    const { stdout } = await play(
      [answer([...findings, ...(findings.length > 0 ? [named] : [])])],
      ["-f", "sarif"],
    );
    const log = JSON.parse(stdout);

    expect(validate(log) ? [] : validate.errors).toEqual([]);
    expect(validate({ ...log, runs: [{}] })).toBe(false);
    expect(log.runs[0].tool.driver.name).toBe("diligent");
    const places = log.runs[0].results.map((result: (typeof log)["runs"]) => [
      result.level,
      result.locations[0].physicalLocation.artifactLocation.uri,
      result.locations[0].physicalLocation.region.startLine,
    ]);
    expect(places).toEqual(
      findings.length === 0
        ? []
        : [
            ["error", "src/a.ts", 1],
            ["warning", "src/a.ts", 2],
            ["note", "a%20b%3A%C3%BC.txt", 1],
            ["note", "src/a.ts", 1],
          ],
    );
  });

  test.each([
    ["error", "error", 1],
    ["error", "warning", 0],
    ["warning", "warning", 1],
    ["warning", "note", 0],
    ["note", "note", 1],
  ])(
    "--fail-on %s with a finding of the level %s ends with %d, after the report",
    async (level, severity, code) => {
      const findings = [{ file: "src/a.ts", line: 2, severity, message: "m" }];
      const { stdout, exitCode } = await play([answer(findings)], ["--format", "json", "--fail-on", level]);
      expect([JSON.parse(stdout), exitCode]).toEqual([findings, code]);
    },
  );

  test("can only read: no other call does anything, and the session is saved with the diff as its prompt", async () => {
    const calls = [
      { name: "write", input: { file_path: "made.txt", content: "x" } },
      { name: "edit", input: { file_path: "src/a.ts", old_string: "one", new_string: "1" } },
      { name: "bash", input: { command: "touch made.txt" } },
      { name: "task", input: { description: "d", prompt: "Write made.txt", agent: "general" } },
      { name: "read", input: { file_path: "src/a.ts" } },
    ];
    const { stdout, exitCode } = await play([{ toolCalls: calls }, answer([])], []);
    expect([stdout, exitCode]).toEqual(["No findings in the uncommitted changes.\n", 0]);
    expect(existsSync(join(place.project, "made.txt"))).toBe(false);
    expect(readFileSync(join(place.project, "src", "a.ts"), "utf8")).toBe("one\nTWO\nthree\n");
    const text = JSON.stringify(sessionLines());
    expect(text).toContain("+TWO");
    expect([...text.matchAll(/There is no tool/g)]).toHaveLength(4);
  });

  test("asks again for an answer that has not the required form, and ends with 1 if none has", async () => {
    const wrong = { text: "Looks good to me!" };
    const better = await play([wrong, answer([])], []);
    expect([better.stdout, better.exitCode]).toEqual(["No findings in the uncommitted changes.\n", 0]);
    const worse = await play([wrong, wrong, wrong], ["--format", "sarif"]);
    expect([worse.stdout, worse.exitCode]).toEqual(["", 1]);
    expect(worse.stderr).toContain("no answer in 3 requests");
  });

  test("sends nothing when there is nothing to review", async () => {
    git(place.project, "checkout", "-q", "src/a.ts");
    const text = await play([], []);
    expect([text.stdout, text.exitCode]).toEqual(["No findings in the uncommitted changes.\n", 0]);
    const json = await play([], ["--staged", "--format", "json", "--fail-on", "note"]);
    expect([json.stdout, json.exitCode]).toEqual(["[]\n", 0]);
    expect(existsSync(join(place.project, ".diligent"))).toBe(false);
  });

  test("reviews a diff from a file or from stdin, and ranges and paths of the project", async () => {
    const prompt = async (args: readonly string[], options?: { stdin?: string; cwd?: string }) => {
      const before = sessionNames();
      const { stderr, exitCode } = await play([answer([])], args, options);
      expect([stderr, exitCode]).toEqual(["", 0]);
      const [added] = sessionLines(sessionNames().filter((name) => !before.includes(name)));
      const message = added?.find(({ type }) => type === "message");
      return JSON.stringify(message?.message).replaceAll("\\n", "\n");
    };
    const diff = "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-from a diff\n+to\n";
    writeFileSync(join(place.top, "given.diff"), diff);
    expect(await prompt(["--diff", "../given.diff"])).toContain(
      "Review the changes in ../given.diff (1 file).",
    );
    expect(await prompt(["--diff", "-"], { stdin: diff })).toContain("-from a diff");
    place.write("other.txt", "other\n");
    const inside = await prompt(["--", "a.ts"], { cwd: join(place.project, "src") });
    expect(inside).toContain("+TWO");
    expect(inside).not.toContain("other.txt");
    expect(await prompt(["-C", "src", "HEAD"])).toContain("Review the changes HEAD (1 file).");
  });

  test("reviews a diff that is larger than the window in parts, and reports them together", async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `const value${index} = ${index};`);
    place.write("large.ts", `${lines.join("\n")}\n`);
    const script = place.write("../script.json", {
      version: 1,
      contextWindow: 32_000,
      turns: [answer([{ file: "large.ts", line: 2_999, severity: "note", message: "Late." }])],
    });
    const { stdout, exitCode } = await runDiligent(place, ["review", "-m", `scripted/${script}`]);
    expect([stdout, exitCode]).toEqual([
      "large.ts:2999: note: Late.\n1 finding (1 note) in the uncommitted changes.\n",
      0,
    ]);
    const prompts = sessionLines().map((entries) => JSON.stringify(entries[1]));
    expect(prompts.length).toBeGreaterThan(1);
    const all = prompts.join("");
    expect(lines.filter((line) => !all.includes(`+${line}\\n`) && !all.includes(`+${line}"`))).toEqual([]);
  });

  test("leaves out files that may hold secrets, and says so", async () => {
    place.write(".env", "TOKEN=do-not-send\n");
    const { stderr } = await play([answer([])], []);
    expect(stderr).toBe("note: .env is not reviewed: the model may not read it.\n");
    expect(JSON.stringify(sessionLines())).not.toContain("do-not-send");
  });

  test.each([
    [["no-such-ref"], "no-such-ref"],
    [["main", "topic"], "a range is one word"],
    [["main...HEAD", "--staged"], "not several of them"],
    [["--diff", "missing.diff"], "--diff missing.diff"],
    [["--diff", "../x.diff", "--", "src"], "takes no paths"],
    [["--format", "xml"], "not one of text, json, sarif"],
    [["--fail-on", "fatal"], "not one of note, warning, error"],
    [["--max-cost", "-1"], "max-cost"],
    [["--", "../outside"], "outside the project"],
    [["--fail"], "unknown option --fail"],
  ])("refuses %j with 2 and sends nothing", async (args, reason) => {
    const { stdout, stderr, exitCode } = await play([answer([])], args);
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toContain(reason);
    expect(existsSync(join(place.project, ".diligent"))).toBe(false);
  });

  test("says that a directory is not a repository", async () => {
    const { stderr, exitCode } = await play([], ["-C", place.temporary]);
    expect([stderr.replace(/^.*?review: /, ""), exitCode]).toEqual([
      `not a git repository (or any of the parent directories): .git\n`,
      2,
    ]);
  });
});
