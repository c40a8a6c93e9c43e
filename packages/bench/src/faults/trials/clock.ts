import { join } from "node:path";
import { checkSession } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

const JUMPING_CLOCK = join(import.meta.dir, "..", "jumping-clock.ts");

/** The wall clock jumps to and fro by up to a year while runs go on: only times are wrong then. */
export const CLOCK: FaultTrial = {
  name: "clock",
  about: "a wall clock that jumps by up to a year in mid-run",
  async run(stage) {
    prepareRandomRuns(stage);
    const seed = String(Math.floor(stage.random() * 1_000_000));
    for (let run = 0; run < 2; run++) {
      const [sessionId] = savedSessions(stage);
      const args = ["--max-turns", "3", ...(sessionId === undefined ? [] : [`--continue=${sessionId}`])];
      const { stdout, stderr, exitCode } = await startRandomRun(stage, args, {
        program: jumpingProgram(),
        environment: { JUMPING_CLOCK_SEED: seed },
      }).ended;
      const printed = toPrintedLines(stdout);
      const isEnded = printed.at(-1)?.type === "result" && [0, 3].includes(exitCode);
      stage.check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 300)}`);
      await checkSession(stage, printed);
    }
  },
};

/** The program from its sources, with a clock of ours loaded before its first line. */
function jumpingProgram(): string[] {
  const program = join(import.meta.dir, "..", "..", "..", "..", "cli", "src", "index.ts");
  return [process.execPath, "--no-env-file", "--config=/dev/null", "--preload", JUMPING_CLOCK, program];
}
