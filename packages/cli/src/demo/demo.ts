import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { resolvePaths } from "@diligent/core/light";
import { type Environment, findProjectRoot, homeDirectory } from "@diligent/core/run";
import { describeError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import moneyModule from "./project/money.js.txt" with { type: "text" };
import moneyTest from "./project/money.test.js.txt" with { type: "text" };
import packageFile from "./project/package.json.txt" with { type: "text" };
import readme from "./project/readme.md.txt" with { type: "text" };
import receiptModule from "./project/receipt.js.txt" with { type: "text" };
import receiptTest from "./project/receipt.test.js.txt" with { type: "text" };
import splitModule from "./project/split.js.txt" with { type: "text" };
import splitTest from "./project/split.test.js.txt" with { type: "text" };
import script from "./script.json" with { type: "json" };

/** A demo that is ready to run. Paths are absolute and real. */
export interface Demo {
  /** The sample project. */
  project: string;
  /** The model's script, next to the project. */
  script: string;
  /** The environment for diligent and the project's tests: `bun` is in its PATH. */
  environment: Environment;
}

/** Pace of the scripted model: milliseconds before each reply and between its chunks. */
export interface DemoPace {
  delayMs: number;
  chunkDelayMs: number;
}

/**
 * Writes the sample project and the script into a new temporary directory, which is kept so that the result can be
 * inspected and continued.
 * @throws Error of the operating system if it cannot be written.
 */
export function createDemo(environment: Environment, pace?: DemoPace): Demo {
  const directory = realpathSync(mkdtempSync(join(environment.TMPDIR || tmpdir(), "diligent-demo-")));
  const project = join(directory, SAMPLE_NAME);
  for (const [path, content] of Object.entries(SAMPLE_FILES)) writeNew(join(project, path), content);
  // If temporary files are inside a repository, the sample must not become part of it.
  if (findProjectRoot(project, homeDirectory(environment)) !== project) mkdirSync(join(project, ".git"));
  const scriptPath = join(directory, "script.json");
  const paced = { ...script, turns: script.turns.map((turn) => ({ ...turn, ...pace })) };
  writeNew(scriptPath, `${JSON.stringify(paced, null, 2)}\n`);
  return { project, script: scriptPath, environment: provideBun(environment, join(directory, "bin")) };
}

function writeNew(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { flag: "wx" });
}

/** The prompt that the demo's script answers. */
export const DEMO_PROMPT =
  "A test of this project fails. Find out why, fix it, and make sure that all tests pass.";

/** Printed before the prompt, on the screen and in line mode. */
export const DEMO_INTRODUCTION = "A scripted model fixes a bug with the real tools. No key, no network.";

/** All locations; `tests` is omitted if nobody ran them. */
export function demoFacts({ project }: Demo, tests: TestRun | undefined): string[] {
  const verdict = tests ? describeTests(tests) : "not run: the demo did not finish";
  return [`Tests    ${verdict}`, `Project  ${project}`, `Session  ${findSession(project) ?? "not saved"}`];
}

/** How to continue with a real model: a command a line, which no width breaks, and no key in the shell's history. */
export function demoContinuation({ project }: Demo): string[] {
  return [
    "Continue with a real model; get a key at https://console.anthropic.com/settings/keys:",
    "",
    `  cd ${shellQuote(project)}`,
    "  diligent login    # once, unless ANTHROPIC_API_KEY is set",
    "  diligent --continue",
  ];
}

/** A fresh project can have only one session. */
function findSession(project: string): string | undefined {
  const directory = resolvePaths(project).sessions;
  if (!existsSync(directory)) return undefined;
  const name = readdirSync(directory).find((file) => file.endsWith(".jsonl"));
  return name && join(directory, name);
}

function describeTests({ passed, summary }: TestRun): string {
  return `${passed ? "they pass" : "they DO NOT pass"}, checked again with bun test: ${summary}`;
}

/**
 * The environment with a `bun` in its PATH, for the sample project's tests. If there is none, `directory` gets one that
 * starts the current runtime: `bun` itself or a compiled diligent.
 */
export function provideBun(
  environment: Environment,
  directory: string,
  runtime = process.execPath,
): Environment {
  const path = environment.PATH ?? "";
  if (path !== "" && Bun.which("bun", { PATH: path })) return environment;
  mkdirSync(directory, { recursive: true });
  // A compiled program behaves like bun itself when this variable is set.
  const launcher = `#!/bin/sh\nBUN_BE_BUN=1 exec ${shellQuote(runtime)} "$@"\n`;
  writeFileSync(join(directory, "bun"), launcher, { mode: 0o755 });
  return { ...environment, PATH: path === "" ? directory : `${directory}${delimiter}${path}` };
}

/** The project's directory name. */
export const SAMPLE_NAME = "split-the-bill";

/**
 * The sample project's files by path. They are stored as `.txt`, so that the failing test is not run with this
 * repository's tests, and imported as text, so that bundles contain them.
 */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.md": readme,
  "package.json": packageFile,
  "src/money.js": moneyModule,
  "src/receipt.js": receiptModule,
  "src/split.js": splitModule,
  "test/money.test.js": moneyTest,
  "test/receipt.test.js": receiptTest,
  "test/split.test.js": splitTest,
};

// The tests take a tenth of a second; this allows for a busy machine and ends a hanging run.
const TIMEOUT_MS = 15_000;

/** `passed` is false if no test ran. */
export interface TestRun {
  passed: boolean;
  /** One line: how many tests passed and failed, or why they did not run. */
  summary: string;
}

/** Runs the sample project's tests to verify the result. They end with the program. */
export async function runSampleTests(
  { project, environment }: Demo,
  io: Pick<CliIo, "onExit">,
): Promise<TestRun> {
  const { PATH, HOME, TMPDIR } = environment;
  try {
    const tests = Bun.spawn(["bun", "test"], {
      cwd: project,
      env: { PATH, HOME, TMPDIR, NO_COLOR: "1" },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    io.onExit(() => tests.kill("SIGKILL"));
    const [report, exitCode] = await Promise.all([tests.stderr.text(), tests.exited]);
    return { passed: exitCode === 0 && countTests(report, "pass") > 0, summary: summarize(report, exitCode) };
  } catch (error) {
    return {
      passed: false,
      summary: `bun test did not start: ${describeError(error)}`,
    };
  }
}

function summarize(report: string, exitCode: number): string {
  const counts = `${countTests(report, "pass")} pass, ${countTests(report, "fail")} fail`;
  return exitCode === 0 || exitCode === 1 ? counts : `bun test ended with exit code ${exitCode}; ${counts}`;
}

/** Counts from the summary of `bun test`, such as ` 2 pass`. */
function countTests(report: string, outcome: "pass" | "fail"): number {
  return Number(new RegExp(`^\\s*(\\d+) ${outcome}$`, "m").exec(report)?.[1] ?? 0);
}

/** Quotes a text as one shell word; plain words are unchanged. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
