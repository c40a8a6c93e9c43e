import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createWriteTool } from "../../src/tools/file-tools.ts";
import { runUserCommand } from "../../src/tools/shell/user-command.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { runTool } from "../support/tool-workspace.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const AGAIN_AND_AGAIN =
  "( while :; do [ -e CLAUDE.md ] || echo CANARY > CLAUDE.md; sleep 0.005; done ) > /dev/null 2>&1 & sleep 0.1";

describe.skipIf(problem !== undefined)(
  "a background process that repeatedly creates a protected file",
  () => {
    test("never gets it accepted, and none is left at the end", async () => {
      const place = await makeBoxedProject();
      await place.run(AGAIN_AND_AGAIN);
      for (let round = 0; round < 2; round++) {
        const { output } = await place.run("until [ -e CLAUDE.md ]; do sleep 0.01; done");
        expect(output).toContain("CLAUDE.md was moved to");
      }
      await endAllProcesses();
      await place.box.close();
      expect(existsSync(place.at("project/CLAUDE.md"))).toBe(false);
    });

    test("is noticed while no command is running", async () => {
      const place = await makeBoxedProject();
      await place.run("(sleep 0.2; echo CANARY > CLAUDE.md; sleep 60) > /dev/null 2>&1 &");
      while (place.told.length === 0) await Bun.sleep(20);
      expect(existsSync(place.at("project/CLAUDE.md"))).toBe(false);
      expect(place.told).toHaveLength(1);
    });
  },
);

describe.skipIf(problem !== undefined)("a command of the user", () => {
  test("does not see what a background process has just created", async () => {
    const place = await makeBoxedProject();
    await place.run("(sleep 0.2; echo CANARY > CLAUDE.md; touch made; sleep 60) > /dev/null 2>&1 &");
    while (place.text("project/made") === undefined) await Bun.sleep(5);
    const { output } = await runUserCommand("ls", place.workspace, { signal: new AbortController().signal });
    expect(output).not.toMatch(/^CLAUDE/m);
    expect(output).toContain("CLAUDE.md was moved to");
  });
});

describe.skipIf(problem !== undefined)("approval of a file", () => {
  test("does not apply to others in its directory", async () => {
    const place = await makeBoxedProject();
    await place.run(
      "sleep 0.3; mkdir .vscode; (mkfifo go; read line < go; echo CANARY > .vscode/tasks.json; sleep 60) > /dev/null 2>&1 & echo started",
    );
    await runTool(createWriteTool(place.workspace), { file_path: ".vscode/settings.json", content: "{}\n" });
    // It is known from now on, but what runs in the background was started before.
    await place.run("true");
    writeFileSync(place.at("project/go"), "\n");
    while (!existsSync(place.at("project/.vscode/tasks.json"))) await Bun.sleep(5);
    await place.run("true");
    expect(place.text("project/.vscode/tasks.json")).toBeUndefined();
    expect(place.text("project/.vscode/settings.json")).toBe("{}\n");
    // What the user changes in the approved file stays.
    place.put("project/.vscode/settings.json", "{ }\n");
    await place.run("true");
    expect(place.text("project/.vscode/settings.json")).toBe("{ }\n");
  });

  test("does not apply to another content in its place", async () => {
    const place = await makeBoxedProject();
    await runTool(createWriteTool(place.workspace), { file_path: "AGENTS.md", content: "agreed\n" });
    await place.run("rm AGENTS.md", { outside: true });
    await place.run("echo CANARY > AGENTS.md");
    expect(place.text("project/AGENTS.md")).toBeUndefined();
  });
});
