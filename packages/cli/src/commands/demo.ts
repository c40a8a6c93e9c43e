import {
  createDemo,
  DEMO_INTRODUCTION,
  DEMO_PROMPT,
  type Demo,
  type DemoPace,
  demoContinuation,
  demoFacts,
  runSampleTests,
  type TestRun,
} from "../demo/demo.ts";
import { describeError, EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { runCli } from "../run-cli.ts";

const PLAIN = "--plain-ui";

// On a screen, someone is reading along.
const SCREEN_PACE: DemoPace = { delayMs: 900, chunkDelayMs: 30 };

/**
 * The offline demo: the real program, with a scripted model, fixes a bug in a sample project; then the project's own
 * tests verify the fix. In a terminal it uses the screen, which stays open; otherwise print mode. Returns the exit
 * code: 0 only if the tests pass, or nobody waited for them.
 * @throws UsageError for arguments other than `--plain-ui`.
 */
export async function runDemo(rest: readonly string[], io: CliIo): Promise<number> {
  const unknown = rest.find((word) => word !== PLAIN);
  if (unknown !== undefined) throw new UsageError(`demo takes no arguments: ${unknown}`);
  const isPlain = rest.includes(PLAIN) || io.environment.TERM === "dumb";
  if (io.stdin.isTerminal && io.stdout.isTerminal && !isPlain)
    return (await import("../demo/run-on-screen.ts")).runOnScreen(openDemo(io, SCREEN_PACE), io);
  return runInLines(openDemo(io), io);
}

async function runInLines(demo: Demo, io: CliIo): Promise<number> {
  introduce(demo, io);
  const exitCode = await runCli(argumentsFor(demo), ioFor(demo, io));
  // If the reader of stdout is gone, nobody reads the ending.
  if (io.stdout.closed.aborted) return exitCode;
  const tests = exitCode === EXIT_SUCCESS ? await runSampleTests(demo, io) : undefined;
  conclude(demo, tests, io);
  return tests && !tests.passed ? EXIT_FAILURE : exitCode;
}

function openDemo(io: CliIo, pace?: DemoPace): Demo {
  try {
    return createDemo(io.environment, pace);
  } catch (error) {
    throw new UsageError(`demo needs a temporary directory: ${describeError(error)}`);
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
    DEMO_PROMPT,
  ];
}

/** Piped input is not part of the demo's prompt. */
function ioFor({ environment }: Demo, io: CliIo): CliIo {
  const stdin = { isTerminal: true, stream: () => new ReadableStream<Uint8Array>() };
  return { ...io, stdin, environment, ownPrompt: DEMO_PROMPT };
}

function introduce({ project }: Demo, { stdout }: CliIo): void {
  writeLine(stdout, DEMO_INTRODUCTION);
  writeLine(stdout, `\nProject  ${project}\nPrompt   ${DEMO_PROMPT}\n`);
}

function conclude(demo: Demo, tests: TestRun | undefined, { stdout }: CliIo): void {
  writeLine(stdout, `\n${demoFacts(demo, tests).join("\n")}`);
  if (tests) writeLine(stdout, `\n${demoContinuation(demo).join("\n")}`);
}
