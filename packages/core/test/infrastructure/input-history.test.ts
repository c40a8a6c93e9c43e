import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appendInputHistory, inputHistoryPath } from "../../src/infrastructure/fs/input-history.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const entries = (path: string) =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("prompts are kept in order in a private file, one JSON object a line", () => {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const path = inputHistoryPath(environment) ?? "";
  appendInputHistory(environment, { cwd: "/a", text: "first" });
  appendInputHistory(environment, { cwd: "/b", text: "two\nlines" });
  expect(entries(path)).toEqual([
    { time: expect.any(String), cwd: "/a", text: "first" },
    { time: expect.any(String), cwd: "/b", text: "two\nlines" },
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("beyond four megabytes the older half is removed", () => {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const path = inputHistoryPath(environment) ?? "";
  appendInputHistory(environment, { cwd: "/a", text: "oldest" });
  writeFileSync(path, `${JSON.stringify({ text: "x".repeat(2_200_000) })}\n`, { flag: "a" });
  writeFileSync(path, `${JSON.stringify({ text: "y".repeat(2_200_000) })}\n`, { flag: "a" });
  appendInputHistory(environment, { cwd: "/a", text: "newest" });
  expect(statSync(path).size).toBeLessThan(3_000_000);
  expect(entries(path).map(({ text }) => text.slice(0, 6))).toEqual(["yyyyyy", "newest"]);
});

test("what is dropped can be noted before, and stays if that fails", () => {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const path = inputHistoryPath(environment) ?? "";
  const append = (text: string, beforeDrop: () => void) =>
    appendInputHistory(environment, { cwd: "/a", text }, beforeDrop);
  append("oldest", () => expect.unreachable());
  writeFileSync(path, `${JSON.stringify({ text: "x".repeat(4_300_000) })}\n`, { flag: "a" });
  append("newer", () => {
    throw new Error("read-only");
  });
  expect(entries(path).map(({ text }) => text.slice(0, 6))).toEqual(["oldest", "xxxxxx", "newer"]);
  let seen = "";
  append("newest", () => {
    seen = readFileSync(path, "utf8");
  });
  expect(seen).toContain("oldest");
  expect(entries(path).map(({ text }) => text)).toEqual(["newer", "newest"]);
});

test("without a directory nothing is written and nothing fails", () => {
  appendInputHistory({ HOME: "/" }, { cwd: "/a", text: "a" });
  const file = join(makeTempDir(), "file");
  writeFileSync(file, "");
  appendInputHistory({ XDG_STATE_HOME: file }, { cwd: "/a", text: "a" });
  expect(readFileSync(file, "utf8")).toBe("");
});
