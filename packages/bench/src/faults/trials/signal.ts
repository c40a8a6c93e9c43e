import { pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { prepareRandomRuns, startRandomRun, toPrintedLines } from "../random-run.ts";
import { checkTemporary } from "../temporary-left.ts";
import type { FaultTrial } from "../trial.ts";

const LONGEST_RUN_MS = 900;
// Two seconds are promised; what is on top is the machine, which runs other things too.
const LIMIT_MS = 4_000;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131 } as const;

/** Signals that a program can answer: it ends soon, with the code that says so, and says its last line. */
export const SIGNAL: FaultTrial = {
  name: "signal",
  about: "SIGINT, SIGTERM, SIGHUP or SIGQUIT at a random moment",
  async run(stage) {
    prepareRandomRuns(stage);
    const run = startRandomRun(stage);
    await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
    await Promise.race([Bun.sleep(stage.random() * LONGEST_RUN_MS), run.ended]);
    const signal = pick(stage.random, ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]);
    const begin = performance.now();
    run.process.kill(signal);
    const { stdout, exitCode } = await run.ended;
    const tookMs = performance.now() - begin;
    checkTemporary(stage);
    const printed = toPrintedLines(stdout);
    // It may have been about to end by itself.
    const isRight = exitCode === EXIT_CODES[signal] || exitCode === 0;
    stage.check("patient", tookMs <= LIMIT_MS ? undefined : `${signal} took ${Math.round(tookMs)} ms`);
    stage.check(
      "patient",
      isRight && printed.at(-1)?.type === "result"
        ? undefined
        : `${signal}: exit code ${exitCode}, ${stdout.slice(-200)}`,
    );
    await checkSession(stage, printed);
    await checkChildren(stage);
  },
};
