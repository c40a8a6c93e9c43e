import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDiligent } from "./support/run-diligent.ts";
import { savedMessages, sessionIds } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("several processes that start at once in a new home and project each have their session, and write no settings", async () => {
  place.write("script.json", { version: 1, turns: [{ text: "Here I am." }] });
  const names = ["first", "second", "third"];
  const runs = names.map((name) => startDiligent(place, ["-p", "-m", "scripted/script.json", name]).ended);
  const ends = await Promise.all(runs);
  expect(ends.map(({ stdout, stderr, exitCode }) => [stdout, stderr, exitCode])).toEqual(
    names.map(() => ["Here I am.\n", "", 0]),
  );
  const prompts = sessionIds(place).map((id) => {
    const messages = savedMessages(place, id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    return String(messages[0]?.content);
  });
  expect(prompts.sort()).toEqual(names);
  expect(readFileSync(join(place.project, ".diligent", ".gitignore"), "utf8").trim()).not.toBe("");
  expect(existsSync(join(place.home, ".config"))).toBe(false);
});

test("several processes that start at once with truncated settings each name the position and leave them unchanged", async () => {
  const text = '{\n  "maxTurns": 5,\n  "appro';
  const path = place.write("../home/.config/diligent/diligent.jsonc", text);
  const runs = [1, 2].map(() => startDiligent(place, ["-p", "go"]).ended);
  for (const { stdout, stderr, exitCode } of await Promise.all(runs)) {
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toMatch(/diligent\.jsonc:3:\d+: /);
  }
  expect(readFileSync(path, "utf8")).toBe(text);
});
