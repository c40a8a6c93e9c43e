import { between } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

// Longer than most runs of a few turns, so that a part of the kills meets the end of a run.
const LONGEST_RUN_MS = 900;
const MOST_KILLS = 3;

/** The same session is killed again and again: its history gets more and more interesting. */
export const KILL: FaultTrial = {
  name: "kill",
  about: "SIGKILL at a random moment of a run, up to three times in one session",
  async run(stage) {
    prepareRandomRuns(stage);
    const kills = between(stage.random, 1, MOST_KILLS);
    for (let kill = 0; kill < kills; kill++) {
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
