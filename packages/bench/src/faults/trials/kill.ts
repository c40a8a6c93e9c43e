import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

// Longer than most runs of a few turns, so that a part of the kills meets the end of a run.
const LONGEST_RUN_MS = 900;
/** A session is killed so often before the next one begins; its history gets more and more interesting. */
const KILLS_A_SESSION = 3;
const LONG_KILLS = 1_000;

/** What was shown is there, the session opens, and a service takes its next request. */
export const KILL: FaultTrial = {
  name: "kill",
  about: "SIGKILL at a random moment of a run, three times in one session",
  longRuns: Math.ceil(LONG_KILLS / KILLS_A_SESSION),
  async run(stage) {
    prepareRandomRuns(stage);
    for (let kill = 0; kill < KILLS_A_SESSION; kill++) {
      const [sessionId] = savedSessions(stage);
      const run = startRandomRun(stage, sessionId === undefined ? [] : [`--continue=${sessionId}`]);
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await Promise.race([Bun.sleep(stage.random() * LONGEST_RUN_MS), run.ended]);
      run.process.kill("SIGKILL");
      const { stdout } = await run.ended;
      await checkSession(stage, toPrintedLines(stdout));
      await checkChildren(stage);
    }
  },
};
