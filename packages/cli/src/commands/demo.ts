import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AVAILABLE_FEATURES } from "../arguments/features.ts";
import type { CliIo } from "../cli-io.ts";
import { createDemo, type Demo } from "../demo/create-demo.ts";
import { shellQuote } from "../demo/provide-bun.ts";
import { runSampleTests, type TestRun } from "../demo/sample-tests.ts";
import { EXIT_FAILURE, EXIT_SUCCESS } from "../exit-codes.ts";
import { runCli } from "../run-cli.ts";
import { UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";

const PROMPT = "A test of this project fails. Find out why, mend it, and make sure that all tests pass.";

const HELP = `diligent demo: see it mend a bug, without a key and without network

A script plays the model; everything else is real: the loop, the tools, the session file. It works on a small project
in a new temporary directory, which stays there afterwards. Exit code 0 means that the tests of the project passed.
`;

/**
 * The offline demonstration: the real command line, with a scripted model, mends a bug in a sample project; then the
 * project's own tests are run to see whether it did. Returns the exit code: 0 only if they pass.
 * @throws UsageError for arguments, of which there are none.
 */
export async function runDemo(rest: readonly string[], io: CliIo): Promise<number> {
  if (rest.some((word) => word === "--help" || word === "-h")) {
    io.stdout.write(HELP);
    return EXIT_SUCCESS;
  }
  if (rest[0] !== undefined) throw new UsageError(`demo takes no arguments: ${rest[0]}`);
  const demo = openDemo(io);
  introduce(demo, io);
  const exitCode = await runCli(argumentsFor(demo), ioFor(demo, io));
  // A reader that has left wants no ending either.
  if (io.stdout.closed.aborted) return exitCode;
  const tests = exitCode === EXIT_SUCCESS ? await runSampleTests(demo, io) : undefined;
  conclude(demo, tests, io);
  return tests && !tests.passed ? EXIT_FAILURE : exitCode;
}

function openDemo(io: CliIo): Demo {
  try {
    return createDemo(io.environment);
  } catch (error) {
    throw new UsageError(
      `demo needs a temporary directory: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function argumentsFor({ project, script }: Demo): string[] {
  return [
    "-p",
    "--model",
    `scripted/${script}`,
    "--approval",
    "auto",
    "--output-format",
    "text",
    "-C",
    project,
    PROMPT,
  ];
}

/** What is piped into the demonstration is no part of its prompt. */
function ioFor({ environment }: Demo, io: CliIo): CliIo {
  const stdin = { isTerminal: true, stream: () => new ReadableStream<Uint8Array>() };
  return { ...io, stdin, environment };
}

function introduce({ project }: Demo, { stdout }: CliIo): void {
  writeLine(stdout, "A scripted model mends a bug with the real tools. No key, no network.");
  writeLine(stdout, `\nProject  ${project}\nPrompt   ${PROMPT}\n`);
}

function conclude({ project }: Demo, tests: TestRun | undefined, { stdout }: CliIo): void {
  writeLine(
    stdout,
    `\nTests    ${tests ? describeTests(tests) : "not run: the demonstration did not get to its end"}`,
  );
  writeLine(stdout, `Project  ${project}`);
  writeLine(stdout, `Session  ${findSession(project) ?? "not saved"}`);
  if (!tests) return;
  writeLine(
    stdout,
    `\nGo on with a real model, with a key from https://console.anthropic.com/settings/keys:\n`,
  );
  writeLine(stdout, `  cd ${shellQuote(project)} && ANTHROPIC_API_KEY=… ${continuation()}`);
}

/** The one session that a fresh project can have. */
function findSession(project: string): string | undefined {
  const directory = join(project, ".diligent", "sessions");
  if (!existsSync(directory)) return undefined;
  const name = readdirSync(directory).find((file) => file.endsWith(".jsonl"));
  return name && join(directory, name);
}

function describeTests({ passed, summary }: TestRun): string {
  return `${passed ? "they pass" : "they DO NOT pass"}, checked once more with bun test: ${summary}`;
}

function continuation(): string {
  return AVAILABLE_FEATURES.has("continue")
    ? "diligent --continue"
    : 'diligent "What else could go wrong here?"';
}
