import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runDiligent, startDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const WORDS = ["-p", "go", "-m", "scripted/script.json"];

const canBox = Bun.spawnSync(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"], {
  stderr: "ignore",
}).success;

test.skipIf(!canBox)("a session begins by taking away what one that was killed had made here", async () => {
  const command = "echo CANARY > CLAUDE.md; echo mine > made; sleep 60";
  place.write("script.json", { version: 1, turns: [{ toolCalls: [{ name: "bash", input: { command } }] }] });
  const running = startDiligent(place, WORDS);
  while (!existsSync(join(place.project, "made")) && running.process.exitCode === null) await Bun.sleep(10);
  expect(readdirSync(place.project)).toContain("CLAUDE.md");
  running.process.kill("SIGKILL");
  await running.ended;
  place.write("script.json", { version: 1, turns: [{ text: "Nothing was run." }] });
  const { stdout, stderr, exitCode } = await runDiligent(place, WORDS);
  expect([stdout, exitCode]).toEqual(["Nothing was run.\n", 0]);
  expect(stderr).toStartWith(
    "The last session here ended without tidying up, and one of its commands made CLAUDE.md, which decides",
  );
  expect(readdirSync(place.project)).not.toContain("CLAUDE.md");
  expect(readdirSync(place.project)).toContain("made");
});
