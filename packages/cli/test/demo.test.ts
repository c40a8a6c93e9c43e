import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProjectRoot } from "@diligent/core";
import { parseScript } from "@diligent/core/testing";
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

/** Runs the program like a shell, with an empty home and only the given `environment`. */
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
  test("fixes the bug of the sample project with all tools, offline and without a key", async () => {
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
    expect(stdout).toEndWith(
      `  cd ${shellQuote(project)}\n  diligent login    # once, unless ANTHROPIC_API_KEY is set\n  diligent --continue\n`,
    );
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

  test("explains itself with --help and accepts no other arguments", async () => {
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

  test("reports that there is no place for the project", async () => {
    const { exitCode, stderr } = await runProgram(["demo"], { TMPDIR: "/proc/nowhere" });
    expect(exitCode).toBe(2);
    expect(stderr).toStartWith("diligent: demo needs a temporary directory: ");
  });
});

describe("the sample project", () => {
  test("comes with a valid script next to it", () => {
    const { script } = makeDemo();
    expect(parseScript(readFileSync(script, "utf8"), script).turns.length).toBeGreaterThan(5);
  });

  test("is a separate project, even if temporary files are inside a repository", () => {
    const repository = makeTempDir();
    mkdirSync(join(repository, ".git"));
    const { project } = createDemo({ PATH: process.env.PATH, TMPDIR: repository });
    expect(findProjectRoot(project, undefined)).toBe(project);
  });

  test("has exactly one failing test, which the verdict reports", async () => {
    expect(await runSampleTests(makeDemo(), io)).toEqual({ passed: false, summary: "5 pass, 1 fail" });
  });

  test("fails without any tests", async () => {
    const demo = makeDemo();
    rmSync(join(demo.project, "test"), { recursive: true });
    expect((await runSampleTests(demo, io)).passed).toBe(false);
  });

  test("fails if its tests cannot be run", async () => {
    const demo = makeDemo();
    const nothing = makeTempDir();
    const { passed, summary } = await runSampleTests({ ...demo, environment: { PATH: nothing } }, io);
    expect({ passed, summary }).toEqual({ passed: false, summary: expect.stringContaining("did not start") });
  });
});

describe("the bun for the sample project", () => {
  test("is the one in PATH if there is one", () => {
    const environment = { PATH: process.env.PATH };
    expect(provideBun(environment, "/nowhere")).toBe(environment);
  });

  test("is otherwise the running program, whatever characters its path contains", () => {
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
