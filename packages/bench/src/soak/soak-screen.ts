import { askForLargeResults, createLargeTurns, restBriefly, TURNS_A_PROMPT } from "../stage/large-results.ts";
import { openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";
import { type ProcessSoak, WARM_TURNS } from "./judge-process.ts";
import { sampleProcess } from "./process-sample.ts";

// Far more than a turn takes here: what hangs is ended.
const MOST_MS_A_TURN = 1_000;

/** The interactive screen in a terminal, over so many turns with results of 50 KB. */
export async function soakScreen(stage: Stage, turns: number): Promise<ProcessSoak> {
  const [, program] = await stage.programs();
  const options = { program, ...createLargeTurns(turns), timeLimitMs: 60_000 + turns * MOST_MS_A_TURN };
  await using run = await openScreen(stage, options);
  const sample = async () => {
    await restBriefly(run);
    return sampleProcess(run.pid);
  };
  const warm = WARM_TURNS / TURNS_A_PROMPT;
  const turnMs: number[] = [];
  let early = await sample();
  for (let prompt = 0; prompt < turns / TURNS_A_PROMPT; prompt++) {
    turnMs.push((await askForLargeResults(run, prompt)) / TURNS_A_PROMPT);
    if (prompt + 1 === warm) early = await sample();
  }
  return { early, late: await sample(), turnMs, warm };
}
