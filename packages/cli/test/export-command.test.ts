import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntry } from "@diligent/core/run";
import { toMarkdown } from "../src/export/export-document.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeAll(async () => {
  place = createTemporaryProject();
  const turns = [
    { text: "A \x1b[31mred\x1b[0m answer.", toolCalls: [{ name: "ls", input: {} }] },
    { text: "Done." },
  ];
  place.write("script.json", { version: 1, turns });
  for (const prompt of ["first prompt", "second prompt"])
    await runDiligent(place, ["-p", "--model", "scripted/script.json", prompt]);
});

afterAll(() => place.remove());

function run(...args: string[]) {
  return runDiligent(place, ["export", ...args]);
}

test("export writes the last session to stdout as Markdown, with control characters as escapes", async () => {
  const { stdout, stderr, exitCode } = await run();
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toStartWith("# second prompt\n\nSession ");
  expect(stdout).toContain("A \\x1b[31mred\\x1b[0m answer.");
});

test("export REF writes that session, from any project", async () => {
  expect((await run("2")).stdout).toStartWith("# first prompt\n");
  const { stdout } = await runDiligent(place, ["-C", place.project, "export", "2"], { cwd: place.home });
  expect(stdout).toStartWith("# first prompt\n");
});

test("export --format jsonl writes a session file that can be opened", async () => {
  const { stdout, exitCode } = await run("-o", "copy.jsonl");
  const path = join(place.project, "copy.jsonl");
  expect([exitCode, stdout, statSync(path).mode & 0o777]).toEqual([0, `Exported to ${path}\n`, 0o600]);
  const { id } = JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0] ?? "");
  const other = createTemporaryProject();
  mkdirSync(join(other.project, ".diligent", "sessions"), { recursive: true });
  copyFileSync(path, join(other.project, ".diligent", "sessions", `${id}.jsonl`));
  const { stdout: list } = await runDiligent(other, ["--list"]);
  other.remove();
  expect(list).toContain("second prompt (4 messages)");
});

test("export to a file escapes control characters in Markdown and keeps them in JSON lines", async () => {
  expect((await run("--format", "md", "-o", "copy.md")).exitCode).toBe(0);
  const markdown = readFileSync(join(place.project, "copy.md"), "utf8");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these.
  expect(markdown).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  const { stdout } = await run("--format", "jsonl");
  expect(stdout).toContain(JSON.stringify("A \x1b[31mred\x1b[0m answer."));
});

test("export --format takes precedence over the file name, and nothing is overwritten", async () => {
  expect((await run("--format", "md", "--output", "odd.jsonl")).exitCode).toBe(0);
  const path = join(place.project, "odd.jsonl");
  expect(readFileSync(path, "utf8")).toStartWith("# second prompt\n");
  const { exitCode, stderr } = await run("-o", "odd.jsonl");
  expect([exitCode, stderr]).toEqual([2, `diligent: ${path} was not written: it already exists (EEXIST)\n`]);
});

test.each([
  [["--format", "pdf"], "export: --format pdf: not one of md, html, jsonl, atif"],
  [["1", "2"], "export takes one REF, not also 2"],
  [["-o"], "export: -o needs a value"],
  [["777"], "no session 777; there are: "],
])("export refuses %p", async (args, complaint) => {
  const { exitCode, stdout, stderr } = await run(...args);
  expect([exitCode, stdout, stderr]).toEqual([2, "", expect.stringContaining(`diligent: ${complaint}`)]);
});

test("the title of an export is the user's text, without the text of attachments", () => {
  const entry: SessionEntry = {
    type: "message",
    id: "00000001",
    parentId: null,
    timestamp: "2026-01-01T00:00:00Z",
    message: {
      role: "user",
      timestamp: 0,
      content: [
        { type: "text", text: "explain @a.ts" },
        { type: "text", text: "File a.ts:\nexport const a = 1;" },
      ],
    },
  };
  const header = {
    type: "session",
    version: 2,
    id: "20260101000000-aaaaaa",
    timestamp: "2026-01-01T00:00:00Z",
    cwd: "/x",
  } as const;
  const markdown = toMarkdown({ header, path: [entry] });
  expect(markdown.split("\n", 1)).toEqual(["# explain @a.ts"]);
  expect(markdown).toContain("File a.ts:");
});
