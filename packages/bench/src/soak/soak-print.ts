import { createLargeTurns, largeCall } from "../stage/large-results.ts";
import type { Stage } from "../stage/stage.ts";
import { type IdleSoak, type ProcessSoak, WARM_TURNS } from "./judge-process.ts";
import { type PrintedRun, startPrintedRun } from "./printed-run.ts";
import { type ProcessSample, sampleProcess } from "./process-sample.ts";
import { watchIdle } from "./soak-idle.ts";

// Behind so long a wait the runtime has tidied up what came before it.
const SETTLE_MS = 2_500;
const REST_SECONDS = 4;
// Below the time after which a command is ended.
const MOST_SECONDS_A_WAIT = 90;

/** Print mode over so many turns with results of 50 KB, in one run. */
export async function soakPrint(stage: Stage, turns: number): Promise<ProcessSoak> {
  const { summaries } = createLargeTurns(turns);
  const rests = [WARM_TURNS, turns];
  const script = Array.from({ length: turns + 1 }, (_, turn) => [
    ...(rests.includes(turn) ? [wait(REST_SECONDS, turn)] : []),
    turn < turns ? { text: `I look, ${turn}.`, toolCalls: [largeCall(turn)] } : { text: "Done." },
  ]).flat();
  await using run = await startPrintedRun(stage, { turns: script, summaries });
  const { samples, turnMs } = await follow(run, rests);
  const [early, late] = samples;
  if (!early || !late || (await run.ended) !== 0)
    throw new Error(`The run ended after ${turnMs.length} turns.`);
  return { early, late, turnMs, warm: WARM_TURNS };
}

/** The time of each turn with a large result, and what the process holds in each rest. */
async function follow(run: PrintedRun, rests: readonly number[]) {
  const samples: ProcessSample[] = [];
  const turnMs: number[] = [];
  let begin = performance.now();
  let isResting = false;
  for await (const type of run.events()) {
    if (type === "turn_start") {
      begin = performance.now();
      isResting = turnMs.length === rests[samples.length];
    } else if (type === "tool_start" && isResting) {
      await Bun.sleep(SETTLE_MS);
      samples.push(sampleProcess(run.pid));
    } else if (type === "turn_end" && !isResting) {
      turnMs.push(performance.now() - begin);
    }
  }
  // The last one has no call.
  return { samples, turnMs: turnMs.slice(0, -1) };
}

/** Print mode while it waits for a command that takes long. */
export async function soakIdlePrint(stage: Stage, seconds: number): Promise<IdleSoak> {
  const waits = Math.ceil((seconds + REST_SECONDS) / MOST_SECONDS_A_WAIT);
  const turns = Array.from({ length: waits }, (_, number) =>
    wait(Math.min(seconds + REST_SECONDS, MOST_SECONDS_A_WAIT), number),
  );
  await using run = await startPrintedRun(stage, { turns: [...turns, { text: "Done." }], summaries: [] });
  for await (const type of run.events()) {
    if (type !== "tool_start") continue;
    await Bun.sleep(SETTLE_MS);
    return await watchIdle(run.pid, seconds);
  }
  throw new Error("The run ended before it waited.");
}

/** No two alike, so that they are not taken for a loop. */
function wait(seconds: number, number: number) {
  const command = `sleep ${seconds} # ${number}`;
  return { text: "I wait.", toolCalls: [{ name: "bash", input: { command } }] };
}
