import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { noteKnowledgeUse, readKnowledgeUses } from "../../src/knowledge/uses.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function createStage() {
  const home = makeTempDir();
  const environment = { HOME: home };
  const directory = join(home, ".local", "state", "diligent", "knowledge-uses");
  return { environment, file: () => join(directory, readdirSync(directory)[0] ?? "") };
}

test("uses are counted by project and entry, and damaged lines are skipped", () => {
  const { environment, file } = createStage();
  expect(readKnowledgeUses("/p", environment)).toEqual(new Map());
  noteKnowledgeUse("/p", ["a", "b"], environment);
  appendFileSync(
    file(),
    '{"timestamp": 1, "ids": ["a"]}\nnot json\n{"timestamp": "2020", "ids": "a"}\n{"tim\n',
  );
  noteKnowledgeUse("/p", ["b"], environment);
  noteKnowledgeUse("/p", [], environment);
  const uses = readKnowledgeUses("/p", environment);
  expect([...uses].map(([id, { count }]) => [id, count])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  expect(readKnowledgeUses("/other", environment).size).toBe(0);
  expect(statSync(file()).mode & 0o077).toBe(0);
});

test("the file of uses stays small, and the newest uses stay", () => {
  const { environment, file } = createStage();
  noteKnowledgeUse("/p", ["first"], environment);
  appendFileSync(file(), `${JSON.stringify({ timestamp: "2026", ids: ["x".repeat(80)] })}\n`.repeat(15_000));
  noteKnowledgeUse("/p", ["last"], environment);
  expect(statSync(file()).size).toBeLessThan(600_000);
  const uses = readKnowledgeUses("/p", environment);
  expect(uses.get("last")?.count).toBe(1);
  expect(uses.has("first")).toBe(false);
});
