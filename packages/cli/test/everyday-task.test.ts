import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "./support/run-diligent.ts";
import { runInTerminal, type TerminalProgram } from "./support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });

/** An everyday request, and a model's usual way to carry it out. */
const TURNS = [
  { toolCalls: [{ name: "ls", input: {} }] },
  { toolCalls: [{ name: "read", input: { file_path: "add.sh" } }] },
  bash("sh test.sh"),
  {
    toolCalls: [
      { name: "edit", input: { file_path: "add.sh", old_string: "$1 - $2", new_string: "$1 + $2" } },
    ],
  },
  bash("sh test.sh"),
  bash('git add add.sh && git commit -m "add adds"'),
  { text: "It adds now, and is committed." },
];

function git(...words: string[]): string {
  const { stdout, stderr, success } = Bun.spawnSync(["git", "-C", place.project, ...words], {
    env: { PATH: "/usr/bin:/bin", HOME: place.home },
  });
  if (!success) throw new Error(stderr.toString());
  return stdout.toString().trim();
}

beforeEach(() => {
  place = createTemporaryProject();
  place.write("add.sh", "echo $(($1 - $2))\n");
  place.write("test.sh", 'test "$(sh add.sh 2 3)" = 5 && echo "1 passed" || { echo "1 failed"; exit 1; }\n');
  place.write(".gitignore", "script.json\n.diligent/\n");
  place.write("script.json", { version: 1, turns: TURNS });
  git("init", "-q");
  git("config", "user.name", "Somebody");
  git("config", "user.email", "somebody@example.org");
  git("add", "-A");
  git("commit", "-qm", "begin");
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

/** Answers every question with "always in this session"; returns how many there were. */
async function work(): Promise<number> {
  const program = runInTerminal(place, ["-m", "scripted/script.json", "make it add"]);
  programs.push(program);
  let questions = 0;
  while (!program.screen.includes("is committed.")) {
    const asked = program.screen.split("Allow it?").length - 1;
    if (asked > questions) program.type("a\r");
    questions = Math.max(questions, asked);
    if (program.process.exitCode !== null) throw new Error(program.screen);
    await Bun.sleep(5);
  }
  return questions;
}

function expectDone(): void {
  expect(readFileSync(join(place.project, "add.sh"), "utf8")).toBe("echo $(($1 + $2))\n");
  expect(git("log", "--format=%s")).toBe("add adds\nbegin");
  expect(git("status", "--porcelain")).toBe("");
}

/** Why this machine has no sandbox. */
function findProblem(): string | undefined {
  const bwrap = Bun.which("bwrap", { PATH: "/usr/local/bin:/usr/bin:/bin" });
  const words = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"];
  const trial = bwrap ? Bun.spawnSync([bwrap, ...words], { env: {} }) : undefined;
  if (trial?.success) return undefined;
  const reason = trial?.stderr.toString().trim() ?? "bubblewrap is not installed";
  console.log(`Tests of the sandbox are skipped: ${reason}`);
  return reason;
}

const problem = findProblem();

test.skipIf(problem !== undefined)("an everyday task asks nothing with a sandbox", async () => {
  expect(await work()).toBe(0);
  expectDone();
});

test.skipIf(problem !== undefined)("an everyday task works in print mode with a sandbox", async () => {
  const words = ["-p", "make it add", "-m", "scripted/script.json", "--output-format", "stream-json"];
  const { stdout, exitCode } = await runDiligent(place, words);
  const events = parseLines(stdout);
  expect([exitCode, events.filter(({ type }) => type === "approval_request")]).toEqual([0, []]);
  expect(events.filter(({ type, isError }) => type === "tool_end" && isError)).toHaveLength(1);
  expectDone();
});

test("an everyday task asks at most three questions without a sandbox", async () => {
  place.configure({ sandbox: "off" });
  expect(await work()).toBe(2);
  expectDone();
});

test("diligent undo reverts the edit together with its commit", async () => {
  const words = ["-p", "make it add", "-m", "scripted/script.json", "--approval", "auto"];
  expect((await runDiligent(place, words)).exitCode).toBe(0);
  const { exitCode, stdout } = await runDiligent(place, ["undo"]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("± add.sh")]);
  expect(readFileSync(join(place.project, "add.sh"), "utf8")).toBe("echo $(($1 - $2))\n");
  expect(git("log", "--format=%s")).toBe("begin");
  expect(git("status", "--porcelain")).toBe("");
});
