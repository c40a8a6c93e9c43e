import { readCpuSeconds } from "../measure/process-figures.ts";
import { restBriefly } from "../stage/large-results.ts";
import { LAST_WORD, LONG_TRANSCRIPT } from "../stage/long-answers.ts";
import { askUntil, openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";
import type { IdleSoak } from "./judge-process.ts";
import { sampleProcess } from "./process-sample.ts";

/** Looks at a process that has nothing to do. */
export async function watchIdle(pid: number, seconds: number): Promise<IdleSoak> {
  const [before, begin] = [sampleProcess(pid), readCpuSeconds(pid)];
  await Bun.sleep(seconds * 1000);
  return { seconds, cpuSeconds: readCpuSeconds(pid) - begin, before, after: sampleProcess(pid) };
}

/** The interactive screen below a long transcript, while nobody types. */
export async function soakIdleScreen(stage: Stage, seconds: number): Promise<IdleSoak> {
  const [, program] = await stage.programs();
  const timeLimitMs = (seconds + 120) * 1000;
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT], timeLimitMs });
  await askUntil(run, "Tell me all.", LAST_WORD);
  await restBriefly(run);
  return await watchIdle(run.pid, seconds);
}
