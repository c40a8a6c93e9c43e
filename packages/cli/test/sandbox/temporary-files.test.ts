import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = findSandboxProblem();

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

type Call = [name: string, input: object];

/** The results of these calls, one after the other, in a run without a user. */
async function run(calls: readonly Call[], args: readonly string[] = []) {
  const turns = [...calls.map(([name, input]) => ({ toolCalls: [{ name, input }] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const words = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json", ...args];
  const { stdout, exitCode } = await runDiligent(place, words);
  const ends = parseLines(stdout).filter(({ type }) => type === "tool_end");
  return {
    exitCode,
    outputs: ends.map(({ output }) => String(output)),
    errors: ends.map(({ isError }) => isError),
  };
}

const bash = (command: string): Call => ["bash", { command }];

describe.skipIf(problem !== undefined)("/tmp", () => {
  test("is one directory for commands and the file tools, without a question", async () => {
    const name = `diligent-test-${crypto.randomUUID()}`;
    const { exitCode, outputs, errors } = await run([
      ["write", { file_path: `/tmp/${name}/a.sh`, content: "echo from write\n" }],
      bash(`sh /tmp/${name}/a.sh; echo from bash > /tmp/${name}/b; echo more > /var/tmp/${name}/c`),
      ["read", { file_path: `/tmp/${name}/b` }],
      ["edit", { file_path: `/tmp/${name}/b`, old_string: "bash", new_string: "edit" }],
      ["glob", { pattern: "*", path: `/tmp/${name}` }],
      ["grep", { pattern: "from", path: `/tmp/${name}` }],
      bash(`cat /tmp/${name}/b /tmp/${name}/c`),
    ]);
    expect([exitCode, errors]).toEqual([0, [false, false, false, false, false, false, false]]);
    expect(outputs[0]).toBe(`Created /tmp/${name}/a.sh (1 line).`);
    expect(outputs[1]).toBe("from write");
    expect(outputs[2]).toContain("from bash");
    for (const file of ["a.sh", "b", "c"]) expect(outputs[4]).toContain(`/tmp/${name}/${file}`);
    expect(outputs[5]).toContain(`/tmp/${name}/b`);
    expect(outputs[6]).toBe("from edit\nmore");
    expect(existsSync(join("/tmp", name))).toBe(false);
  });

  test("is not writable in plan mode", async () => {
    const name = `diligent-test-${crypto.randomUUID()}`;
    const calls: Call[] = [["write", { file_path: `/tmp/${name}`, content: "x" }]];
    const { errors } = await run(calls, ["--approval", "plan"]);
    expect([errors, existsSync(join("/tmp", name))]).toEqual([[true], false]);
  });

  test("asks before it gives access to the user's own files in it", async () => {
    const directory = mkdtempSync("/tmp/diligent-test-");
    writeFileSync(join(directory, "notes"), "private\n");
    try {
      const { outputs, errors } = await run([
        ["read", { file_path: join(directory, "notes") }],
        ["write", { file_path: join(directory, "notes"), content: "session's\n" }],
        bash(`cat ${join(directory, "notes")}`),
      ]);
      expect(errors).toEqual([true, false, false]);
      expect(outputs[0]).toContain("is outside the project");
      expect(outputs[2]).toBe("session's");
      expect(await Bun.file(join(directory, "notes")).text()).toBe("private\n");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("gives no access through a link that a command creates in it", async () => {
    const outside = place.write("../outside", "kept\n");
    const { errors } = await run([
      bash(`ln -s ${outside} /tmp/link; ln -s ${join(outside, "..")} /tmp/directory`),
      ["write", { file_path: "/tmp/link", content: "CANARY" }],
      ["write", { file_path: "/tmp/directory/canary", content: "CANARY" }],
    ]);
    expect(errors).toEqual([false, true, true]);
    expect(await Bun.file(outside).text()).toBe("kept\n");
    expect(existsSync(join(outside, "..", "canary"))).toBe(false);
  });
});
