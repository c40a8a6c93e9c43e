import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const PIECE = KEY.slice(20);
const environment = { ANTHROPIC_API_KEY: KEY };

let place: TemporaryProject;
let id: string;

const sessionFile = () => join(place.project, ".diligent", "sessions", `${id}.jsonl`);

beforeAll(async () => {
  place = createTemporaryProject();
  place.write("script.json", { version: 1, turns: [{ text: `The key is ${KEY}.` }] });
  // Without the variable the key is a text like any other, as it was before keys were kept out of session files.
  const args = ["-p", "--output-format", "json", "--model", "scripted/script.json", `is ${KEY} the needle?`];
  id = JSON.parse((await runDiligent(place, args)).stdout).sessionId;
});

afterAll(() => place.remove());

test.each([
  [["export"]],
  [["export", "--format", "jsonl"]],
  [["sessions", "show", "1"]],
  [["sessions", "show", "1", "--json"]],
  [["sessions", "show", "1", "--full"]],
  [["sessions", "show", "1", "--full", "--json"]],
  [["sessions", "show", "1", "--entries"]],
  [["sessions", "find", "needle"]],
  [["sessions", "find", "needle", "--json"]],
])("diligent %j masks a key that an older session file holds", async (args) => {
  const before = readFileSync(sessionFile(), "utf8");
  expect(before).toContain(KEY);
  const { stdout, stderr, exitCode } = await runDiligent(place, args, { environment });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain(PIECE);
  expect(stdout).toContain("[key of anthropic]");
  expect(readFileSync(sessionFile(), "utf8")).toBe(before);
});

test("/export masks a key that an older session file holds", async () => {
  const args = ["--model", "scripted/script.json", "--resume", id];
  await using program = startInPty(place, args, { rows: 40, environment });
  await program.waitFor("ask ·");
  program.send("/export jsonl exported.jsonl\r");
  await program.waitFor("Exported to ");
  const exported = readFileSync(join(place.project, "exported.jsonl"), "utf8");
  expect(exported).not.toContain(PIECE);
  expect(exported).toContain("[key of anthropic]");
});
