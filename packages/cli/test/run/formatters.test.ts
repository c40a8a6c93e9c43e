import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.ts", "one\n");
  const edit = { file_path: "a.ts", old_string: "one", new_string: "two" };
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: [{ name: "read", input: { file_path: "a.ts" } }] },
      { toolCalls: [{ name: "edit", input: edit }] },
      { text: "Done." },
    ],
  });
});

afterEach(() => place.remove());

const RUN = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json"];
const FORMATTERS = { upper: { command: ["sed", "-i", "s/two/TWO/"], extensions: [".ts"] } };
const text = () => readFileSync(join(place.project, "a.ts"), "utf8");

// Where the machine has a sandbox, the formatter runs in it.
test.each(["auto", "off"])(
  "a formatter of the user runs after an edit with sandbox %s, and undo restores the file",
  async (sandbox) => {
    place.configure({ sandbox, formatters: FORMATTERS });
    const { stdout, exitCode } = await runDiligent(place, RUN);
    expect([exitCode, text()]).toEqual([0, "TWO\n"]);
    expect(stdout).toContain("Then upper formatted a.ts:");
    const undone = await runDiligent(place, ["undo"]);
    expect([undone.exitCode, text()]).toEqual([0, "one\n"]);
  },
);

test("a formatter of an untrusted project does not run, and one warning names it", async () => {
  place.write("diligent.jsonc", {
    formatters: { evil: { command: ["touch", "owned"], extensions: [".ts"] } },
  });
  const { stderr } = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
  expect(stderr).toContain("formatters.evil");
  expect([text(), existsSync(join(place.project, "owned"))]).toEqual(["two\n", false]);
});
