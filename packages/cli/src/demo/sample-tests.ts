import type { CliIo } from "../cli-io.ts";
import { describeError } from "../describe-error.ts";
import type { Demo } from "./create-demo.ts";

// They take a tenth of a second; a machine that is busy gets its time, one that hangs an end.
const TIMEOUT_MS = 15_000;

/** `passed` is false where no test ran. */
export interface TestRun {
  passed: boolean;
  /** One line: how many tests passed and failed, or why they did not run. */
  summary: string;
}

/** Runs the tests of the sample project, whatever anybody said about them. They end with the program. */
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
    return { passed: exitCode === 0 && countTests(report, "pass") > 0, summary: summarise(report, exitCode) };
  } catch (error) {
    return {
      passed: false,
      summary: `bun test did not start: ${describeError(error)}`,
    };
  }
}

function summarise(report: string, exitCode: number): string {
  const counts = `${countTests(report, "pass")} pass, ${countTests(report, "fail")} fail`;
  return exitCode === 0 || exitCode === 1 ? counts : `bun test ended with exit code ${exitCode}; ${counts}`;
}

/** From the closing lines of `bun test`, such as ` 2 pass`. */
function countTests(report: string, outcome: "pass" | "fail"): number {
  return Number(new RegExp(`^\\s*(\\d+) ${outcome}$`, "m").exec(report)?.[1] ?? 0);
}
