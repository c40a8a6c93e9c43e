import { median } from "../measure/statistics.ts";
import type { SoakVerdict } from "./judge-soak.ts";
import { describeSample, findLeaks, type ProcessSample } from "./process-sample.ts";

/** Turns after which everything is loaded and compiled. */
export const WARM_TURNS = 100;

const MAX_GROWTH_MEGABYTES = 50;
const MAX_SLOWDOWN = 2;
const MAX_IDLE_PERCENT = 1;

/** A program that made many turns with large results. */
export interface ProcessSoak {
  /** At rest, behind the first hundred turns and behind the last. */
  early: ProcessSample;
  late: ProcessSample;
  /** What each turn took, or each prompt, in order from the beginning on; more than `warm` of them. */
  turnMs: readonly number[];
  /** How many of these the first hundred turns are. */
  warm: number;
}

export function judgeProcess({ early, late, turnMs, warm }: ProcessSoak): SoakVerdict {
  const first = median(turnMs.slice(warm, 2 * warm));
  const last = median(turnMs.slice(-warm));
  const growth = late.megabytes - early.megabytes;
  return {
    lines: [
      `  after ${WARM_TURNS} turns: ${describeSample(early)}`,
      `  at the end: ${describeSample(late)}`,
      `  time: ${first.toFixed(1)} ms in the second hundred, ${last.toFixed(1)} ms in the last, ${(last / first).toFixed(1)}x`,
    ],
    problems: [
      ...(growth > MAX_GROWTH_MEGABYTES ? [`it grew by ${growth.toFixed(1)} MB`] : []),
      ...(last > MAX_SLOWDOWN * first ? [`the last turns take more than ${MAX_SLOWDOWN}x as long`] : []),
      ...findLeaks(early, late),
    ],
  };
}

/** A program that had nothing to do. */
export interface IdleSoak {
  seconds: number;
  cpuSeconds: number;
  before: ProcessSample;
  after: ProcessSample;
}

export function judgeIdle({ seconds, cpuSeconds, before, after }: IdleSoak): SoakVerdict {
  const percent = (cpuSeconds / seconds) * 100;
  const growth = after.megabytes - before.megabytes;
  return {
    lines: [
      `  ${percent.toFixed(2)} % of a core over ${seconds} s`,
      `  before: ${describeSample(before)}; behind it: ${describeSample(after)}`,
    ],
    problems: [
      ...(percent > MAX_IDLE_PERCENT ? [`it took more than ${MAX_IDLE_PERCENT} % of a core`] : []),
      ...(growth > MAX_GROWTH_MEGABYTES ? [`it grew by ${growth.toFixed(1)} MB`] : []),
      ...findLeaks(before, after),
    ],
  };
}
