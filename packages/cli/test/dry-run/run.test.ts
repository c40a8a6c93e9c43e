import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startInPty } from "../support/pty-program.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = findSandboxProblem();

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.txt", "one\n");
});

afterEach(() => place.remove());

const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const TRY_RULE = { permissions: [{ permission: "execute", pattern: "make-it*", action: "try" }] };
const ASK_RULE = { permissions: [{ permission: "execute", pattern: "make-it*", action: "ask" }] };
const MAKE_IT = "make-it() { echo two >> a.txt; }; make-it x";

function content(): string {
  return readFileSync(join(place.project, "a.txt"), "utf8");
}

function outputs(stdout: string): unknown[] {
  return parseLines(stdout).flatMap(({ type, output }) => (type === "tool_end" ? [output] : []));
}

describe.skipIf(problem !== undefined)("a command that a rule wants to be tried", () => {
  test.each([[[]], [["--approval", "auto"]]])(
    "runs in -p in a view, changes nothing, and the model gets the differences: %p",
    async (mode: string[]) => {
      place.configure(TRY_RULE);
      place.write("script.json", { version: 1, turns: [bash(MAKE_IT), { text: "Tried." }] });
      const args = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json", ...mode];
      const { stdout, exitCode } = await runDiligent(place, args);
      expect(exitCode).toBe(0);
      expect(outputs(stdout)).toEqual([
        "(no output)\n\nWould change: 1 changed\nM a.txt\n\n--- a.txt\n+++ a.txt\n@@ -1,1 +1,2 @@\n one\n+two\n\n" +
          "[this was a dry run: the project is as it was before, and none of these changes was made]",
      ]);
      expect(content()).toBe("one\n");
    },
  );

  test("is shown in a terminal with its differences, and applied with a", async () => {
    await using session = new ScreenSession({
      place,
      config: TRY_RULE,
      turns: [bash(MAKE_IT), "Applied it."],
    });
    await session.opened();
    await session.say("go on");
    await session.shows("+two");
    expect(content()).toBe("one\n");
    await session.answer("Apply what the command would change (1 changed)?", "a");
    await session.shows("Applied it.");
    expect(content()).toBe("one\ntwo\n");
    await session.say("/undo");
    await session.shows("± a.txt");
    expect(content()).toBe("one\n");
    await session.quit();
  });
});

describe.skipIf(problem !== undefined)("a command that is asked about", () => {
  test("is tried with t, and dropped with Escape without ending the turn", async () => {
    await using session = new ScreenSession({
      place,
      config: ASK_RULE,
      turns: [bash(MAKE_IT), "As you like."],
    });
    await session.opened();
    await session.say("make it");
    await session.answer("t try first", "t");
    await session.answer("+two", "\x1b");
    await session.shows("As you like.");
    expect(content()).toBe("one\n");
    await session.quit();
  });

  test("is tried in the line prompt with t and applied with a", async () => {
    place.configure(ASK_RULE);
    place.write("script.json", { version: 1, turns: [bash(MAKE_IT), { text: "All applied." }] });
    const program = startInPty(place, ["--model", "scripted/script.json", "--plain-ui"]);
    await program.waitFor("diligent>");
    program.send("make it\r");
    await program.waitFor("t (try first)");
    program.send("t\r");
    await program.waitFor("Apply it?");
    expect(content()).toBe("one\n");
    program.send("a\r");
    // At the prompt: during a run, /quit only says how to stop it.
    await program.waitFor(/All applied\.\s+diligent>/);
    expect(content()).toBe("one\ntwo\n");
    program.send("/quit\r");
    expect(await program.exitCode).toBe(0);
  });
});

describe.skipIf(problem !== undefined)("/try", () => {
  test("runs a command in a view, applies it with a, and can be undone", async () => {
    await using session = new ScreenSession({ place, config: {}, turns: ["Not asked."] });
    await session.opened();
    await session.say("/try echo two >> a.txt; touch made");
    await session.answer("(1 created, 1 changed)?", "a");
    await session.shows("[applied: 1 created, 1 changed]");
    expect([content(), existsSync(join(place.project, "made"))]).toEqual(["one\ntwo\n", true]);
    await session.say("/undo");
    await session.shows("± a.txt");
    expect([content(), existsSync(join(place.project, "made"))]).toEqual(["one\n", false]);
    await session.quit();
  });

  test("counts what was applied, and names what is never applied", async () => {
    await using session = new ScreenSession({ place, config: {}, turns: ["Not asked."] });
    await session.opened();
    await session.say("/try touch made; mkfifo pipe");
    await session.answer("(1 created)?", "a");
    await session.shows("[applied: 1 created]");
    await session.shows("Never applied: pipe, because it is a pipe.");
    expect([existsSync(join(place.project, "made")), existsSync(join(place.project, "pipe"))]).toEqual([
      true,
      false,
    ]);
    await session.quit();
  });

  test("says in one line why there is no dry run where commands run unsandboxed", async () => {
    await using session = new ScreenSession({ place, config: { sandbox: "off" }, turns: ["Not asked."] });
    await session.opened();
    await session.say("/try touch made");
    await session.shows("A dry run is not available here:");
    expect(existsSync(join(place.project, "made"))).toBe(false);
    await session.quit();
  });
});
