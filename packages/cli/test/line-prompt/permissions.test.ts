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
const userFile = () => readFileSync(join(place.home, ".config", "diligent", "diligent.jsonc"), "utf8");

async function start(...turns: object[]): Promise<TerminalProgram> {
  place.write("script.json", { version: 1, turns });
  program = runInTerminal(place, ["-m", "scripted/script.json"]);
  await program.shown("diligent> ");
  return program;
}

test("a rule added at the line prompt applies at once, and no longer after its removal", async () => {
  place.configure({ sandbox: "off" });
  const { shown, type } = await start(touch, { text: "Refused." }, touch, { text: "Done." });
  type("/permissions deny execute touch\r");
  await shown(": deny execute touch. Active now.");
  expect(JSON.parse(userFile()).permissions).toEqual([
    { permission: "execute", pattern: "touch", action: "deny" },
  ]);
  type("make it\r");
  await shown("Refused.");
  await shown("diligent> ");
  type("/permissions\r");
  await shown("The approval mode is ask. Commands run unsandboxed");
  await shown("1. rule: deny execute touch (");
  type("/permissions remove 1\r");
  await shown(": deny execute touch.");
  expect(JSON.parse(userFile()).permissions).toEqual([]);
  type("make it now\r");
  await shown("Allow bash?");
  await shown("Allow it? ");
  type("a\r");
  await shown("Done.");
  expect(existsSync(join(place.project, "made"))).toBe(true);
  await shown("diligent> ");
  type("/permissions\r");
  await shown("1. allowed: exactly `touch made` in ");
  type("/permissions remove 1\r");
  await shown("You will be asked again.");
  type("/permissions remove 7\r");
  await shown("error: No number 7 in the list of /permissions.");
}, 60_000);

test("an invalid rule at the line prompt is answered with the syntax of a rule", async () => {
  const { shown, type } = await start();
  type("/permissions forbid curl\r");
  await shown("Write a rule as allow|deny|ask|try read|write|execute|fetch|mcp PATTERN");
  type("/permissions\r");
  await shown("No permissions granted and no rules.");
});

test("/permissions MODE switches the mode, and auto needs a confirmation by number", async () => {
  place.configure({ sandbox: "off" });
  const { shown, type } = await start(touch, { text: "Done." });
  type("/permissions plan\r");
  await shown("Mode plan: ");
  type("/permissions auto\r");
  await shown("Allow everything without asking?");
  await shown("Switch to auto");
  type("/permissions 2\r");
  await shown("Mode auto: ");
  type("make it\r");
  await shown("Done.");
  expect(existsSync(join(place.project, "made"))).toBe(true);
});
