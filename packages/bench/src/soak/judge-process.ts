import { median } from "../measure/statistics.ts";
import type { ProcessSample } from "./process-sample.ts";
import { type SoakRow, type SoakVerdict, toCountRow } from "./soak-row.ts";

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

/** Holds a long session of a program to its budgets: no slower, no larger, nothing left open. */
export function judgeProcess({ early, late, turnMs, warm }: ProcessSoak): SoakVerdict {
  const first = median(turnMs.slice(warm, 2 * warm));
  const last = median(turnMs.slice(-warm));
  const times = `${first.toFixed(1)} → ${last.toFixed(1)} ms, ${(last / first).toFixed(1)}x`;
  return {
    rows: [
      {
        what: "time of a turn, second hundred to last",
        found: times,
        budget: `≤ ${MAX_SLOWDOWN}x`,
        isBroken: last > MAX_SLOWDOWN * first,
      },
      ...compareSamples(early, late),
    ],
  };
}

/** A program that had nothing to do. */
export interface IdleSoak {
  seconds: number;
  cpuSeconds: number;
  /** How often its main thread woke up. */
  wakes: number;
  before: ProcessSample;
  after: ProcessSample;
}

/** Holds a waiting program to its budgets. */
export function judgeIdle({ seconds, cpuSeconds, wakes, before, after }: IdleSoak): SoakVerdict {
  const percent = (cpuSeconds / seconds) * 100;
  return {
    rows: [
      {
        what: `CPU over ${seconds} s`,
        found: `${percent.toFixed(2)} % of a core`,
        budget: `≤ ${MAX_IDLE_PERCENT} %`,
        isBroken: percent > MAX_IDLE_PERCENT,
      },
      // For information: the runtime of an empty program wakes, too. `bun run bench screen-idle` compares the two.
      { what: "wake-ups of the main thread", found: `${(wakes / seconds).toFixed(2)} a second` },
      ...compareSamples(before, after),
    ],
  };
}

function compareSamples(before: ProcessSample, after: ProcessSample): SoakRow[] {
  const [early, late] = [before.megabytes, after.megabytes];
  return [
    {
      what: "resident memory",
      found: `${early.toFixed(1)} → ${late.toFixed(1)} MB`,
      budget: `${MAX_GROWTH_MEGABYTES} MB more`,
      isBroken: late - early > MAX_GROWTH_MEGABYTES,
    },
    toCountRow("open files", before.files, after.files),
    toCountRow("children", before.children, after.children),
  ];
}
