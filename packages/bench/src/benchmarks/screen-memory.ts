import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { readMegabytes } from "../measure/process-figures.ts";
import { median } from "../measure/statistics.ts";
import type { TerminalRun } from "../measure/terminal-run.ts";
import { askForLargeResults, createLargeTurns, restBriefly, TURNS_A_PROMPT } from "../stage/large-results.ts";
import { NO_TEXT, startPlainProgram } from "../stage/plain-program.ts";
import { openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 3;
const TURNS = 1_000;
const WARM_TURNS = 100;
const BUDGETS = { megabytes: 150, growthMegabytes: 50, timeRatio: 2 };
const TIME_LIMIT_MS = 600_000;

interface LongRun {
  /** At rest: at the end, and how much of that came after the first hundred turns. */
  megabytes: number;
  growthMegabytes: number;
  /** The most at any moment, while a turn took as long as its tools. */
  peakMegabytes: number;
  /** Of a turn, in ms: the median of the second hundred turns, and of the last. */
  earlyTurnMs: number;
  lateTurnMs: number;
}

/** The memory of the screen after 1,000 turns, each with a result of 50 KB. */
export const screenMemory: Benchmark = {
  name: "screen-memory",
  about: "resident memory and time per turn over 1,000 turns with results of 50 KB",
  async measure(stage) {
    const runs: LongRun[] = [];
    const plain: number[] = [];
    for (let run = 0; run < stage.runs(RUNS); run++) {
      plain.push(await measurePlain(stage));
      runs.push(await measureScreen(stage));
    }
    const memory = {
      unit: "MB",
      rule: { kind: "amount" },
      reference: { name: "plain program", values: plain },
    } as const satisfies Partial<Figure>;
    return [
      {
        ...memory,
        name: "screen-memory, after 1,000 turns",
        measured: runs.map(({ megabytes }) => megabytes),
        budget: BUDGETS.megabytes,
      },
      {
        ...memory,
        name: "screen-memory, growth after the first 100",
        measured: runs.map(({ growthMegabytes }) => growthMegabytes),
        budget: BUDGETS.growthMegabytes,
      },
      {
        ...memory,
        name: "screen-memory, peak without a pause",
        measured: runs.map(({ peakMegabytes }) => peakMegabytes),
      },
      {
        name: "screen-memory, time of a turn at the end",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: runs.map(({ lateTurnMs }) => lateTurnMs),
        reference: { name: "in the second hundred", values: runs.map(({ earlyTurnMs }) => earlyTurnMs) },
        budget: BUDGETS.timeRatio,
      },
    ];
  },
};

async function measurePlain(stage: Stage): Promise<number> {
  await using run = startPlainProgram(stage, NO_TEXT);
  await run.settle();
  return readMegabytes(run.pid).now;
}

async function measureScreen(stage: Stage): Promise<LongRun> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, {
    program,
    ...createLargeTurns(TURNS),
    timeLimitMs: TIME_LIMIT_MS,
  });
  const turnTimes: number[] = [];
  let warmMegabytes = 0;
  for (let prompt = 0; prompt < TURNS / TURNS_A_PROMPT; prompt++) {
    turnTimes.push((await askForLargeResults(run, prompt)) / TURNS_A_PROMPT);
    if ((prompt + 1) * TURNS_A_PROMPT === WARM_TURNS) warmMegabytes = await readAtRest(run);
  }
  const peakMegabytes = readMegabytes(run.pid).peak;
  const megabytes = await readAtRest(run);
  const hundred = WARM_TURNS / TURNS_A_PROMPT;
  return {
    megabytes,
    peakMegabytes,
    growthMegabytes: megabytes - warmMegabytes,
    earlyTurnMs: median(turnTimes.slice(hundred, 2 * hundred)),
    lateTurnMs: median(turnTimes.slice(-hundred)),
  };
}

async function readAtRest(run: TerminalRun): Promise<number> {
  await restBriefly(run);
  return readMegabytes(run.pid).now;
}
