import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  place.configure({ sandbox: "off" });
  place.write("package.json", { scripts: { test: "node --test", lint: "eslint ." } });
  place.write("a.test.mjs", 'import { test } from "node:test";\ntest("one", () => {});\n');
});

afterEach(() => place.remove());

const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const write = { toolCalls: [{ name: "write", input: { file_path: "b.mjs", content: "1;\n" } }] };

function run(turns: object[], ...args: string[]) {
  place.write("script.json", { version: 1, turns });
  return runDiligent(place, ["-p", "-m", "scripted/script.json", "--approval", "auto", ...args, "go"]);
}

test("a check that ran after the last change is shown with its counts, on stderr only", async () => {
  const { stdout, stderr, exitCode } = await run([write, bash("node --test"), { text: "All tests pass." }]);
  expect([stdout, exitCode]).toEqual(["All tests pass.\n", 0]);
  expect(stderr).toContain(
    "Evidence, as diligent saw it:\n  ✓ node --test 1 passed, after the last change\n  – lint not run\n",
  );
  expect(stderr).not.toContain("no check shows this");
});

test("a claim without a check, and a check before later edits, are named in every format", async () => {
  const turns = [bash("node --test"), write, { text: "All tests pass. The build succeeds." }];
  const { stderr } = await run(turns);
  expect(stderr).toContain("  ⚠ node --test 1 passed, ran before 1 later edit\n");
  expect(stderr).toContain("  ⚠ no check shows this: All tests pass.\n");
  expect(stderr).toContain("  ⚠ no check shows this: The build succeeds.\n");
  rmSync(join(place.project, "b.mjs"));
  const { stdout } = await run(turns, "--output-format", "stream-json");
  const lines = parseLines(stdout);
  const unsupported = ["All tests pass.", "The build succeeds."];
  expect(lines.find(({ type }) => type === "evidence")).toMatchObject({ unsupported });
  expect(lines.findIndex(({ type }) => type === "evidence")).toBeLessThan(
    lines.findIndex(({ type }) => type === "agent_end"),
  );
  expect(lines.at(-1)).toMatchObject({ type: "result", evidence: { unsupported } });
  const saved = savedLines(place).filter(({ customType }) => customType === "evidence");
  expect(saved.at(-1)).toMatchObject({ type: "custom", data: { unsupported } });
});

test("a turn that checks, changes and claims nothing has no evidence", async () => {
  const { stderr } = await run([bash("ls"), { text: "There are two files." }]);
  expect(stderr).not.toContain("Evidence");
});

test("--require-evidence asks the model once, and is satisfied by a check that it then runs", async () => {
  const { stdout, stderr, exitCode } = await run(
    [write, { text: "Done." }, bash("node --test"), { text: "Now it is tested." }],
    ...["--require-evidence", "tests"],
  );
  expect([stdout, exitCode]).toEqual(["Now it is tested.\n", 0]);
  expect(stderr).toContain("✓ node --test 1 passed, after the last change");
  const notes = savedLines(place).filter(({ message }) =>
    JSON.stringify(message)?.includes("requires evidence"),
  );
  expect(notes).toHaveLength(1);
});

test("--require-evidence ends with 5 if it is still missing, and the result says what", async () => {
  const turns = [write, { text: "Done." }, { text: "I cannot run them." }];
  const { stdout, exitCode } = await run(
    turns,
    "--require-evidence",
    "tests,types",
    "--output-format",
    "json",
  );
  const lacking = ["tests: nothing was run", "types: nothing was run"];
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    5,
    { stopReason: "end_turn", evidence: { lacking } },
  ]);
});

test("an unknown kind of evidence is a usage error", async () => {
  const { stderr, exitCode } = await run([{ text: "Done." }], "--require-evidence", "test");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--require-evidence")]);
});

test("a check that the user has defined counts; a project's own definition is ignored until it is trusted", async () => {
  const checks = [{ name: "smoke tests", command: "true *", kind: "tests" }];
  place.write("diligent.jsonc", { checks });
  const turns = [bash("true all"), { text: "All tests pass." }];
  expect((await run(turns)).stderr).toContain("⚠ no check shows this: All tests pass.");
  place.configure({ sandbox: "off", checks });
  expect((await run(turns)).stderr).toContain("✓ smoke tests, after the last change");
});
