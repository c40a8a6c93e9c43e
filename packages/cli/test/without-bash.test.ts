import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM_BY_PATH, parseLines, runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  const toolCalls = [{ name: "bash", input: { command: "echo made by $0" } }];
  place.write("script.json", { version: 1, turns: [{ toolCalls }, { text: "Done" }] });
});

afterEach(() => place.remove());

/** The outcome of a command, and of the run, if PATH contains only these programs of the machine. */
async function runWith(...programs: readonly string[]) {
  const directory = join(place.top, "programs");
  mkdirSync(directory);
  for (const name of programs) symlinkSync(Bun.which(name) ?? name, join(directory, name));
  const options = ["-m", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"];
  const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", ...options, "go"], {
    program: PROGRAM_BY_PATH,
    environment: { PATH: directory },
  });
  const events = parseLines(stdout);
  const { output, isError } = events.find(({ type }) => type === "tool_end") ?? {};
  return { output, isError, stderr, exitCode, result: events.at(-1)?.result };
}

test("without bash, sh runs the commands", async () => {
  const ran = await runWith("sh");
  expect(ran).toMatchObject({ isError: false, stderr: "", exitCode: 0, result: "Done" });
  expect(ran.output).toMatch(/^made by \S*\bsh$/m);
});

test("without any shell the model is told so, and answers", async () => {
  const ran = await runWith();
  expect(ran).toMatchObject({ isError: true, stderr: "", exitCode: 0, result: "Done" });
  expect(ran.output).toBe("There is neither bash nor sh in PATH outside the project.");
});
