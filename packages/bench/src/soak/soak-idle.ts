import { readCpuSeconds, readSleeps } from "../measure/process-figures.ts";
import { restBriefly } from "../stage/large-results.ts";
import { LAST_WORD, LONG_TRANSCRIPT } from "../stage/long-answers.ts";
import { askUntil, openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";
import type { IdleSoak } from "./judge-process.ts";
import { sampleProcess } from "./process-sample.ts";

const LOSES_FOCUS = "\x1b[O";

/** Looks at a process that has nothing to do. */
export async function watchIdle(pid: number, seconds: number): Promise<IdleSoak> {
  const [before, beginSeconds, beginSleeps] = [sampleProcess(pid), readCpuSeconds(pid), readSleeps(pid)];
  await Bun.sleep(seconds * 1000);
  const [cpuSeconds, wakes] = [readCpuSeconds(pid) - beginSeconds, readSleeps(pid) - beginSleeps];
  return { seconds, cpuSeconds, wakes, before, after: sampleProcess(pid) };
}

/** The interactive screen below a long transcript, while nobody types; in a window that is in sight or not. */
export async function soakIdleScreen(
  stage: Stage,
  seconds: number,
  { isHidden }: { isHidden: boolean },
): Promise<IdleSoak> {
  const [, program] = await stage.programs();
  const timeLimitMs = (seconds + 120) * 1000;
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT], timeLimitMs });
  await askUntil(run, "Tell me all.", LAST_WORD);
  if (isHidden) run.type(LOSES_FOCUS);
  await restBriefly(run);
  return await watchIdle(run.pid, seconds);
}
