import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let program: TerminalProgram | undefined;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  program?.process.kill("SIGKILL");
  place.remove();
});

const touch = { toolCalls: [{ name: "bash", input: { command: "touch made" } }] };
const isMade = () => existsSync(join(place.project, "made"));

async function start(...turns: object[]): Promise<TerminalProgram> {
  place.write("script.json", { version: 1, turns });
  program = runInTerminal(place, ["-m", "scripted/script.json"]);
  await program.shown("diligent> ");
  return program;
}

test("the rules of other agents are shown with what they become, and only a confirmed file is taken over", async () => {
  place.configure({ sandbox: "off" });
  place.write("../home/.claude/settings.json", {
    permissions: { allow: ["Bash(touch:*)", "Task(explore)"], defaultMode: "acceptEdits" },
  });
  place.write(".claude/settings.json", { permissions: { deny: ["Bash(touch:*)"] } });
  const { shown, type } = await start(touch, { text: "Made." }, touch, { text: "Refused." });
  type("/permissions import\r");
  await shown("1. Claude Code: ~/.claude/settings.json, for your own configuration");
  await shown("→ allow execute touch *");
  await shown("not carried over: allow Task(explore)");
  await shown("2. Claude Code: .claude/settings.json, for this project's diligent.jsonc");
  await shown("Nothing was changed.");
  expect(existsSync(join(place.project, "diligent.jsonc"))).toBe(false);
  type("/permissions import 1\r");
  await shown("Added 2 rules to ");
  await shown("Active now.");
  type("make it\r");
  await shown("Made.");
  expect(isMade()).toBe(true);
  type("/permissions import all\r");
  await shown("are in ");
  await shown("Added 1 rule to ");
  expect(JSON.parse(readFileSync(join(place.project, "diligent.jsonc"), "utf8"))).toEqual({
    permissions: [{ permission: "execute", pattern: "touch", action: "deny" }],
  });
  type("/permissions import 9\r");
  await shown("There is nothing to import as 9");
}, 60_000);

test("without any rules of other agents, the import says so", async () => {
  const { shown, type } = await start({ text: "one" });
  type("/permissions import\r");
  await shown("No rules of Claude Code, opencode or Codex were found.");
}, 60_000);
