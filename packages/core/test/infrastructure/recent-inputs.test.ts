import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  appendInputHistory,
  inputHistoryPath,
  readRecentInputs,
} from "../../src/infrastructure/fs/input-history.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function setUp(lines: readonly (string | { cwd: string; text: string })[] = []) {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const path = inputHistoryPath(environment) ?? "";
  mkdirSync(dirname(path), { recursive: true });
  for (const line of lines)
    appendFileSync(path, `${typeof line === "string" ? line : JSON.stringify({ time: "t", ...line })}\n`);
  const read = (limit = 10, root = "/p") =>
    readRecentInputs(environment, { root, limit }).map(({ text }) => text);
  return { environment, path, read };
}

test("the project's own prompts come first, each part newest first", () => {
  const { read } = setUp([
    { cwd: "/p", text: "1" },
    { cwd: "/other", text: "2" },
    { cwd: "/p/deep", text: "3" },
    { cwd: "/project", text: "4" },
    { cwd: "/p", text: "5" },
  ]);
  expect(read()).toEqual(["5", "3", "1", "4", "2"]);
});

test("no more than the requested number are returned, the project's own first", () => {
  const { read } = setUp([
    { cwd: "/p", text: "1" },
    { cwd: "/p", text: "2" },
    { cwd: "/other", text: "3" },
  ]);
  expect(read(2)).toEqual(["2", "1"]);
  expect(read(0)).toEqual([]);
});

test("a prompt that was sent twice is returned once, at its last position", () => {
  const { read } = setUp([
    { cwd: "/p", text: "a" },
    { cwd: "/p", text: "b" },
    { cwd: "/p", text: "a" },
    { cwd: "/other", text: "b" },
  ]);
  expect(read()).toEqual(["a", "b"]);
});

test("appended prompts are read back", () => {
  const { environment } = setUp();
  appendInputHistory(environment, { cwd: "/p", text: "two\nlines" });
  expect(readRecentInputs(environment, { root: "/p", limit: 5 })).toEqual([
    { time: expect.stringMatching(/^\d{4}-.*Z$/), cwd: "/p", text: "two\nlines" },
  ]);
});

test("lines that are not prompts are skipped", () => {
  const { read, path } = setUp([
    "",
    "{",
    "null",
    "[1]",
    '{"text":"no place","time":"t"}',
    '{"text":5,"cwd":"/p","time":"t"}',
    { cwd: "/p", text: "  \n" },
    { cwd: "/p", text: "good" },
  ]);
  appendFileSync(path, '{"time":"t","cwd":"/p","text":"cut o');
  expect(read()).toEqual(["good"]);
});

test("of a long file only the last megabyte is read", () => {
  const { read } = setUp([
    { cwd: "/p", text: "oldest" },
    { cwd: "/p", text: "é".repeat(600_000) },
    { cwd: "/p", text: "newest" },
  ]);
  expect(read()).toEqual(["newest"]);
});

test("without a history there are none, also if something else is in its place", () => {
  expect(readRecentInputs({ HOME: "/" }, { root: "/p", limit: 5 })).toEqual([]);
  const missing = setUp();
  expect(missing.read()).toEqual([]);
  const directory = setUp();
  mkdirSync(directory.path);
  expect(directory.read()).toEqual([]);
  const pipe = setUp();
  execFileSync("mkfifo", [pipe.path]);
  expect(pipe.read()).toEqual([]);
  const file = join(makeTempDir(), "file");
  writeFileSync(file, "");
  chmodSync(file, 0);
  expect(readRecentInputs({ XDG_STATE_HOME: file }, { root: "/p", limit: 5 })).toEqual([]);
});
