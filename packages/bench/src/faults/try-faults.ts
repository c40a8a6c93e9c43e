import { createTemporaryProject } from "../../../cli/test/support/temporary-project.ts";
import { createRandom } from "../../../core/test/support/fuzzed-history.ts";
import { Tally } from "./tally.ts";
import type { FaultTrial } from "./trial.ts";

/** What became of a plan. */
export interface TriedFaults {
  tally: Tally;
  /** What could not be tried here, with the reason. */
  skipped: string[];
  /** Trials that failed themselves; a promise they would have tried is not counted. */
  failures: string[];
}

/** Which disturbances to try, and how to have the same ones again. */
export interface FaultPlan {
  trials: readonly FaultTrial[];
  /** How often each is tried. */
  runs(trial: FaultTrial): number;
  /** The same seed gives the same disturbances; what the machine makes of them is chance. */
  seed: number;
  onTried?(done: number, trial: FaultTrial): void;
}

/** Disturbs the program in every way, one after the other, each time in a new home and project. */
export async function tryFaults({ trials, runs, seed, onTried }: FaultPlan): Promise<TriedFaults> {
  const result: TriedFaults = { tally: new Tally(), skipped: [], failures: [] };
  const possible = trials.filter((trial) => {
    const obstacle = trial.obstacle?.();
    const parts = obstacle === undefined ? (trial.leftOut?.() ?? []) : [obstacle];
    result.skipped.push(...parts.map((part) => `${trial.name}: ${part}`));
    return obstacle === undefined;
  });
  const most = Math.max(0, ...possible.map(runs));
  let done = 0;
  for (let run = 0; run < most; run++) {
    for (const [index, trial] of possible.entries()) {
      if (run >= runs(trial)) continue;
      await tryOnce(trial, seed + run * trials.length + index, result);
      onTried?.(++done, trial);
    }
  }
  return result;
}

async function tryOnce(trial: FaultTrial, seed: number, { tally, failures }: TriedFaults): Promise<void> {
  const place = createTemporaryProject();
  try {
    await trial.run({
      place,
      random: createRandom(seed),
      check: (promise, problem) => tally.note(promise, problem && `${problem} [${trial.name}, seed ${seed}]`),
    });
  } catch (error) {
    failures.push(`${trial.name}, seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    place.remove();
  }
}
