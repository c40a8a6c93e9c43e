import { beforeEach, expect, test } from "bun:test";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findForeignRules } from "../../../src/approval/import/find-rules.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../../support/config-place.ts";

let place: ConfigPlace;

beforeEach(() => {
  place = makeConfigPlace();
});

const claude = (...allow: string[]) => ({ permissions: { allow } });
const find = (environment = place.environment) => findForeignRules(environment, place.project);
const inHome = (path: string) => join(place.home, path);
const inProject = (path: string) => join(place.project, path);

/** The files that were found, with the rules that they hold. */
async function listFound(environment = place.environment) {
  return (await find(environment)).map(
    ({ agent, shown, scope, rules }) =>
      `${agent} ${shown} ${scope}: ${rules.map(({ text }) => text).join(", ")}`,
  );
}

test("rules are found in the files of the user, then in those of the project", async () => {
  put(inHome(".claude/settings.json"), claude("Bash(a)"));
  put(inHome(".config/opencode/opencode.jsonc"), '{ "permission": { "bash": "ask", }, } // mine');
  put(inHome(".codex/rules/default.rules"), 'prefix_rule(pattern = ["b"])');
  put(inHome(".codex/rules/notes.md"), "not a rule");
  put(inProject(".claude/settings.json"), claude("Bash(c)"));
  put(inProject(".claude/settings.local.json"), claude("Bash(d)"));
  put(inProject("opencode.json"), { permission: { edit: "deny" } });
  put(inProject(".codex/rules/team.rules"), 'prefix_rule(pattern = ["e"], decision = "forbidden")');
  expect(await listFound()).toEqual([
    "Claude Code ~/.claude/settings.json user: allow Bash(a)",
    "opencode ~/.config/opencode/opencode.jsonc user: ask bash",
    "Codex ~/.codex/rules/default.rules user: allow b",
    "Claude Code .claude/settings.json project: allow Bash(c)",
    "Claude Code .claude/settings.local.json project: allow Bash(d)",
    "opencode opencode.json project: deny edit",
    "Codex .codex/rules/team.rules project: deny e",
  ]);
});

test("the directories that the variables of other agents name count", async () => {
  put(inHome("c/settings.json"), claude("Bash(a)"));
  put(inHome("x/rules/r.rules"), 'prefix_rule(pattern = ["b"])');
  const environment = { ...place.environment, CLAUDE_CONFIG_DIR: inHome("c"), CODEX_HOME: inHome("x") };
  expect(await listFound(environment)).toEqual([
    "Claude Code ~/c/settings.json user: allow Bash(a)",
    "Codex ~/x/rules/r.rules user: allow b",
  ]);
});

test("in the home directory, the user's file is not one of a project", async () => {
  put(inHome(".claude/settings.json"), claude("Bash(a)"));
  const found = await findForeignRules(place.environment, place.home);
  expect(found.map(({ scope }) => scope)).toEqual(["user"]);
});

test("of a file that is damaged, leads out of the project or is open to others, nothing is used", async () => {
  put(inProject(".claude/settings.json"), '{ "permissions": {');
  symlinkSync(put(inHome("own.json"), claude("Bash(a)")), inProject(".claude/settings.local.json"));
  put(inProject("opencode.json"), new Uint8Array([0xff, 0xfe, 0x00, 0xd8]));
  chmodSync(put(inHome(".claude/settings.json"), claude("Bash(b)")), 0o666);
  put(inProject(".codex/rules/r.rules"), "prefix_rule(pattern = BLOCKED, decision = 'forbidden')");
  const found = await find();
  expect(found.flatMap(({ rules }) => rules)).toEqual([]);
  expect(found.map(({ shown, problem }) => [shown, problem])).toEqual([
    ["~/.claude/settings.json", expect.stringContaining("Another user could have written it")],
    [".claude/settings.json", expect.stringContaining("Nothing of it can be used")],
    [".claude/settings.local.json", "It is a link out of the project."],
    ["opencode.json", expect.stringContaining("Nothing of it can be used")],
    [".codex/rules/r.rules", expect.stringContaining("line 1 is not understood")],
  ]);
});
