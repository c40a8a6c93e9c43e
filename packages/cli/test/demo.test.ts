import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProjectRoot, parseScript } from "@diligent/core";
import { createDemo, type Demo, provideBun, runSampleTests, shellQuote } from "../src/demo/demo.ts";

const ENTRY = join(import.meta.dir, "..", "src", "index.ts");
const TOOLS = ["add_knowledge", "bash", "edit", "glob", "grep", "ls", "read", "write"];

const made: string[] = [];

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function makeTempDir(name = "diligent-test-"): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), name)));
  made.push(directory);
  return directory;
}

function makeDemo(): Demo {
  return createDemo({ PATH: process.env.PATH, TMPDIR: makeTempDir() });
}

const io = { onExit() {} };

interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the program as a shell would, in an empty home and with nothing but what `environment` says. */
async function runProgram(args: string[], environment: Record<string, string>): Promise<Ended> {
  const home = makeTempDir();
  const program = Bun.spawn([ENTRY, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...environment },
    stdin: new Response("This is no prompt.").body ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 55_000,
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    program.stdout.text(),
    program.stderr.text(),
    program.exited,
  ]);
  return { exitCode, stdout, stderr };
}

describe("diligent demo", () => {
  test("mends the bug of the sample project with all its tools, offline and without a key", async () => {
    const directory = makeTempDir("it's a demo ");
    const { exitCode, stdout, stderr } = await runProgram(["demo"], { TMPDIR: directory });

    expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 });
    const project = join(
      directory,
      readdirSync(directory).find((name) => name.startsWith("diligent-demo-")) ?? "",
      "split-the-bill",
    );
    const [session = ""] = readdirSync(join(project, ".diligent", "sessions")).filter((name) =>
      name.endsWith(".jsonl"),
    );
    expect(stdout).toContain("Tests    they pass, checked again with bun test: 8 pass, 0 fail");
    expect(stdout).toContain(`Project  ${project}\n`);
    expect(stdout).toContain(`Session  ${join(project, ".diligent", "sessions", session)}\n`);
    expect(stdout).toContain(`cd ${shellQuote(project)} && ANTHROPIC_API_KEY=… diligent`);
    expect(stdout + stderr).not.toContain("\u001b");

    const lines = readFileSync(join(project, ".diligent", "sessions", session), "utf8")
      .trimEnd()
      .split("\n");
    const messages = lines
      .map((line) => JSON.parse(line))
      .flatMap(({ message }) => (message ? [message] : []));
    const results = messages.filter(({ role }) => role === "tool_result");
    expect([...new Set(results.map(({ toolName }) => toolName))].sort()).toEqual(TOOLS);
    expect(results.filter(({ isError }) => isError).map(({ toolName }) => toolName)).toEqual(["bash"]);
    expect(messages[0].content).toStartWith("A test of this project fails.");
    expect(messages[0].content).not.toContain("This is no prompt.");

    const knowledge = JSON.parse(readFileSync(join(project, ".diligent/knowledge/knowledge.jsonl"), "utf8"));
    expect(knowledge).toMatchObject({ type: "pattern", files: [{ path: "src/split.js" }] });
    expect(session).toBe(`${knowledge.sessionId}.jsonl`);
  }, 60_000);

  test("explains itself, and takes nothing else", async () => {
    const help = await runProgram(["demo", "--help"], {});
    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toStartWith("diligent demo:");
    const wrong = await runProgram(["demo", "now"], {});
    expect(wrong).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: "diligent: demo takes no arguments: now\n",
    });
  });

  test("says so when there is no place for the project", async () => {
    const { exitCode, stderr } = await runProgram(["demo"], { TMPDIR: "/proc/nowhere" });
    expect(exitCode).toBe(2);
    expect(stderr).toStartWith("diligent: demo needs a temporary directory: ");
  });
});

describe("the sample project", () => {
  test("comes with a valid script beside it", () => {
    const { script } = makeDemo();
    expect(parseScript(readFileSync(script, "utf8"), script).turns.length).toBeGreaterThan(5);
  });

  test("is a project of its own, also where temporary files lie in somebody's repository", () => {
    const repository = makeTempDir();
    mkdirSync(join(repository, ".git"));
    const { project } = createDemo({ PATH: process.env.PATH, TMPDIR: repository });
    expect(findProjectRoot(project, undefined)).toBe(project);
  });

  test("has exactly one test that fails, and the verdict says so", async () => {
    expect(await runSampleTests(makeDemo(), io)).toEqual({ passed: false, summary: "5 pass, 1 fail" });
  });

  test("does not pass when it has no tests left", async () => {
    const demo = makeDemo();
    rmSync(join(demo.project, "test"), { recursive: true });
    expect((await runSampleTests(demo, io)).passed).toBe(false);
  });

  test("does not pass when its tests cannot be run", async () => {
    const demo = makeDemo();
    const nothing = makeTempDir();
    const { passed, summary } = await runSampleTests({ ...demo, environment: { PATH: nothing } }, io);
    expect({ passed, summary }).toEqual({ passed: false, summary: expect.stringContaining("did not start") });
  });
});

describe("a bun for the sample project", () => {
  test("is the one on the PATH where there is one", () => {
    const environment = { PATH: process.env.PATH };
    expect(provideBun(environment, "/nowhere")).toBe(environment);
  });

  test("is otherwise the running program, whatever the characters in its path", () => {
    const directory = join(makeTempDir("it's a demo "), "bin");
    const { PATH } = provideBun({ PATH: "/nowhere" }, directory);
    expect(PATH).toBe(`${directory}:/nowhere`);
    const { stdout } = Bun.spawnSync([join(directory, "bun"), "--version"]);
    expect(stdout.toString().trim()).toBe(Bun.version);
  });

  test("is found without any PATH", () => {
    const directory = join(makeTempDir(), "bin");
    mkdirSync(directory);
    expect(provideBun({}, directory).PATH).toBe(directory);
  });
});
