import { afterEach, beforeEach, expect, test } from "bun:test";
import { GUARD_MS } from "../../src/tui/approval/keys.ts";
import { type PtyProgram, startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

const call = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });

beforeEach(() => {
  // Without a sandbox, commands ask.
  place = createTemporaryProject({ sandbox: "off" });
  place.write("a.test.ts", "");
  place.write(
    ".claude/skills/testing/SKILL.md",
    "---\nname: testing\ndescription: Tests.\nallowed-tools: Bash(bun test:*), Read, Bash(rm $HOME:*), Bash(python:*), Bash\n---\nRun the tests.\n",
  );
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: [{ name: "skill", input: { name: "testing" } }] },
      call("bun test a.test.ts"),
      { text: "First." },
      { toolCalls: [{ name: "skill", input: { name: "testing" } }] },
      call("touch canary"),
      { text: "Second." },
    ],
  });
});

afterEach(() => place.remove());

const QUESTION = "The skill testing asks to run without a question: `bun test";

async function start(): Promise<PtyProgram> {
  await runDiligent(place, ["trust", "--yes"]);
  const program = startInPty(place, ["--model", "scripted/script.json"], { rows: 50, columns: 160 });
  await program.waitFor("/ for commands");
  return program;
}

test("what a skill wants to run is asked about once, allowed for the project, and nothing else is allowed", async () => {
  {
    await using program = await start();
    program.send("go\r");
    await program.waitFor(QUESTION);
    expect((await program.screen()).join("\n")).not.toMatch(/HOME|python/);
    await Bun.sleep(GUARD_MS);
    program.send("\x1b[B\x1b[B\r");
    await program.waitFor("First.");
    program.send("again\r");
    await program.waitFor("touch canary");
    await program.waitFor("y yes");
    expect((await program.scrollback()).join("\n").split("asks to run without").length).toBe(2);
  }
  await using later = await start();
  later.send("go\r");
  await later.waitFor("First.");
  expect((await later.scrollback()).join("\n")).not.toContain("asks to run without");
});

test("what the user does not allow asks as any other command, also when the user starts the skill", async () => {
  await using program = await start();
  program.send("/skill:testing\r");
  await program.waitFor(QUESTION);
  await Bun.sleep(GUARD_MS);
  program.send("\r");
  await program.waitFor("bun test a.test.ts");
  await program.waitFor("y yes");
});

test("in print mode nothing is asked and nothing is allowed", async () => {
  await runDiligent(place, ["trust", "--yes"]);
  const { exitCode, stderr } = await runDiligent(place, ["-m", "scripted/script.json", "-p", "go"]);
  expect(stderr).toContain("bun test a.test.ts");
  expect(exitCode).toBe(4);
});
