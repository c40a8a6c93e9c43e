import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let other: string;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  other = join(place.home, "other [x]");
  mkdirSync(other);
  writeFileSync(join(other, "note.txt"), "found it\n");
});

afterEach(() => place.remove());

async function run(args: readonly string[], ...toolCalls: object[]) {
  const turns = [...toolCalls.map((call) => ({ toolCalls: [call] })), { text: "done" }];
  place.write("script.json", { version: 1, turns });
  const exit = await runDiligent(place, [
    ...["-p", "do it", "-m", "scripted/script.json", "--output-format", "stream-json"],
    ...args,
  ]);
  const results = parseLines(exit.stdout).filter(({ type }) => type === "tool_end");
  return { ...exit, outcomes: results.map(({ isError, output }) => (isError ? output : "done")) };
}

const touch = { name: "bash", input: { command: "touch made" } };

describe("--allowed-tools", () => {
  test("lets the calls of a tool run that would need an approval, and no others", async () => {
    const write = { name: "write", input: { file_path: ".envrc", content: "x" } };
    const line = { name: "bash", input: { command: "echo $(pwd) > made" } };
    const { exitCode, outcomes } = await run(["--allowed-tools", "Bash"], line, write);
    expect(outcomes).toEqual(["done", expect.stringContaining("needs the user's approval")]);
    expect([exitCode, existsSync(join(place.project, "made"))]).toEqual([4, true]);
  });

  test("with a pattern allows the commands that match it, and a rule that denies is stronger", async () => {
    const mkdir = { name: "bash", input: { command: "mkdir made" } };
    const args = ["--allowed-tools", "bash(touch *)", "--allowed-tools", "edit"];
    const first = await run(args, touch, mkdir);
    expect(first.outcomes).toEqual(["done", expect.stringContaining("needs the user's approval")]);
    place.configure({
      sandbox: "off",
      permissions: [{ permission: "execute", pattern: "touch *", action: "deny" }],
    });
    expect((await run(args, touch)).outcomes).toEqual([expect.stringContaining("forbids it")]);
  });

  test.each([
    ["bsh", "there is no tool called bsh; did you mean bash?"],
    ["bash(", "not a tool: bash("],
  ])("%p is exit code 2", async (list, message) => {
    const { exitCode, stderr, stdout } = await run(["--allowed-tools", list]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toStartWith(`diligent: ${message}`);
  });
});

describe("--disallowed-tools", () => {
  test("takes a tool away, in the mode auto too", async () => {
    const { outcomes } = await run(["--approval", "auto", "--disallowed-tools", "bash"], touch);
    expect(outcomes).toEqual([expect.stringContaining("bash")]);
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });

  test("with a pattern refuses the calls that match it", async () => {
    const args = ["--approval", "auto", "--disallowed-tools", "bash(touch *)"];
    const mkdir = { name: "bash", input: { command: "mkdir dir" } };
    const { outcomes } = await run(args, touch, mkdir);
    expect(outcomes).toEqual([expect.stringContaining("forbids it"), "done"]);
  });
});

describe("--add-dir", () => {
  const calls = () => [
    { name: "read", input: { file_path: join(other, "note.txt") } },
    { name: "grep", input: { pattern: "found", path: other } },
    {
      name: "edit",
      input: { file_path: join(other, "note.txt"), old_string: "found", new_string: "changed" },
    },
    { name: "write", input: { file_path: join(other, ".envrc"), content: "x" } },
  ];

  test("lets files in the directory be read, searched and changed, but not protected ones", async () => {
    const { outcomes } = await run(["--add-dir", other], ...calls());
    expect(outcomes).toEqual(["done", "done", "done", expect.stringContaining("needs the user's approval")]);
    expect(readFileSync(join(other, "note.txt"), "utf8")).toBe("changed it\n");
  });

  test("is what makes them accessible", async () => {
    const { outcomes } = await run([], ...calls());
    expect(outcomes).toEqual(calls().map(() => expect.stringContaining("is outside the project")));
  });

  test("tells the model about the directory", async () => {
    await run(["--add-dir", other, "--verbose"]);
    const logs = join(place.home, ".local/state/diligent");
    const texts = [...new Bun.Glob("**/*.jsonl").scanSync(logs)].map((name) =>
      readFileSync(join(logs, name), "utf8"),
    );
    expect(texts.join("")).toContain(`You may also read and change files in ${other}, outside the project.`);
  });

  test("that does not exist is exit code 2", async () => {
    const { exitCode, stderr } = await run(["--add-dir", "nowhere"]);
    expect([exitCode, stderr]).toEqual([2, "diligent: --add-dir nowhere: not a usable directory\n"]);
  });
});
