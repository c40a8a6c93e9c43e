import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type PtyProgram, startInPty } from "../support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("../home/.config/diligent/diligent.jsonc", { sandbox: "off" });
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: [{ name: "write", input: { file_path: `${place.home}/made`, content: "x" } }] },
      { text: "Written." },
    ],
  });
});

afterEach(() => place.remove());

const start = (...args: string[]): PtyProgram =>
  startInPty(place, ["--model", "scripted/script.json", ...args], { rows: 40 });

test("a command and its argument are sent with one Enter, and are shown above their output", async () => {
  await using program = start();
  await program.waitFor("scripted/script.json ·");
  program.send("/keys names");
  await program.settle(200);
  program.send("\r");
  await program.waitFor("keybindings.json in your");
  expect((await program.scrollback()).map((row) => row.trim())).toContain("/keys names");
});

test("/reload reloads the keys and reports problems with them", async () => {
  await using program = start();
  await program.waitFor("scripted/script.json ·");
  place.write("../home/.config/diligent/keybindings.json", { "app.model": "ctrl+x", "app.modle": "ctrl+y" });
  program.send("/reload\r");
  await program.waitFor('did you mean "app.model"?');
  program.send("\x18");
  await program.waitFor("Models");
});

function keptDrafts(): string {
  const cwd = join(place.home, ".local", "state", "diligent");
  const paths = [...new Bun.Glob("drafts/**/*").scanSync({ cwd, dot: true, absolute: true })];
  return paths.map((path) => readFileSync(path, "utf8")).join("\n");
}

test("Up restores a prompt typed shortly before the program was killed", async () => {
  {
    await using program = start();
    await program.waitFor("scripted/script.json ·");
    for (const letter of "half a thought") {
      program.send(letter);
      await Bun.sleep(10);
    }
    await program.waitFor("half a thought");
    while (!keptDrafts().includes("half a thought")) await Bun.sleep(10);
    program.process.kill("SIGKILL");
    await program.exitCode;
  }
  await using again = start();
  await again.waitFor("Press Up to restore your unsent draft");
  again.send("\x1b[A");
  await again.waitFor("half a thought");
});

test("the duration of a call excludes the wait for approval, also after resuming", async () => {
  {
    await using program = start();
    await program.waitFor("scripted/script.json ·");
    program.send("go\r");
    await program.waitFor("? Reason: ");
    await Bun.sleep(1_500);
    program.send("y");
    const rows = await program.waitFor("Written.");
    expect(rows.find((row) => row.includes("✓ write"))).not.toMatch(/\ds\b/);
  }
  await using again = start("-c");
  const rows = await again.waitFor("Written.");
  expect(rows.find((row) => row.includes("✓ write"))).not.toMatch(/\ds\b/);
});
