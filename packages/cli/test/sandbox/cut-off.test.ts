import { afterEach, beforeEach, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../../core/test/support/test-unless.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const WORDS = ["-p", "go", "-m", "scripted/script.json"];

/** Why this machine has no sandbox. */
function findProblem(): string | undefined {
  const bwrap = Bun.which("bwrap", { PATH: "/usr/local/bin:/usr/bin:/bin" });
  if (bwrap === null) return "bubblewrap is not installed";
  const words = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"];
  const trial = Bun.spawnSync([bwrap, ...words], { env: {} });
  return trial.success ? undefined : trial.stderr.toString().trim();
}

const testInSandbox = testUnless(findProblem());

testInSandbox("a session first moves away what a killed session created in the project", async () => {
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
    "The last session here was killed, and one of its commands created CLAUDE.md, which controls",
  );
  expect(readdirSync(place.project)).not.toContain("CLAUDE.md");
  expect(readdirSync(place.project)).toContain("made");
});
