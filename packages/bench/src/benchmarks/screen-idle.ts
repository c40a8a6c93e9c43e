import type { Benchmark } from "../benchmark.ts";
import { readCpuSeconds, readSleeps } from "../measure/process-figures.ts";
import { Series } from "../measure/series.ts";
import type { TerminalRun } from "../measure/terminal-run.ts";
import { LAST_WORD, LONG_TRANSCRIPT } from "../stage/long-answers.ts";
import { NO_TEXT, startPlainProgram } from "../stage/plain-program.ts";
import { askUntil, openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 1;
const SECONDS = 20;
// What was loaded and shown is tidied up by the runtime.
const REST_MS = 2_000;
const BUDGET_PERCENT = 1;
// Beyond what the plain program does, whose runtime wakes once a second by itself.
const BUDGET_WAKES_A_SECOND = 1;

interface Idleness {
  percent: number;
  wakesASecond: number;
}

/** What the screen costs while nobody does anything, below a long transcript. */
export const screenIdle: Benchmark = {
  name: "screen-idle",
  about: "CPU time and wake-ups of a screen in which nothing happens (--seconds N: how long)",
  async measure(stage) {
    const seconds = stage.seconds(SECONDS);
    const found: Record<"screen" | "plain", Idleness[]> = { screen: [], plain: [] };
    const screen = new Series(() => measureScreen(stage, seconds, found.screen));
    const plain = new Series(() => measurePlain(stage, seconds, found.plain));
    // Nothing has to be warm for doing nothing: the rounds of a long look count all.
    for (let run = 0; run < stage.runs(RUNS); run++) {
      await screen.addValue();
      await plain.addValue();
    }
    const wakes = (idle: readonly Idleness[]) => idle.map(({ wakesASecond }) => wakesASecond);
    return [
      {
        name: `screen-idle, CPU time, ${seconds} s`,
        unit: "%",
        rule: { kind: "amount" },
        measured: screen.values,
        reference: { name: "plain program", values: plain.values },
        budget: BUDGET_PERCENT,
      },
      {
        name: `screen-idle, wake-ups of its thread beyond the reference's, ${seconds} s`,
        unit: "/s",
        rule: { kind: "per_item", items: 1 },
        measured: wakes(found.screen),
        reference: { name: "plain program", values: wakes(found.plain) },
        budget: BUDGET_WAKES_A_SECOND,
      },
    ];
  },
};

async function measureScreen(stage: Stage, seconds: number, found: Idleness[]): Promise<number> {
  const [, program] = await stage.programs();
  const timeLimitMs = (seconds + 120) * 1000;
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT], timeLimitMs });
  await askUntil(run, "Tell me all.", LAST_WORD);
  return await look(run, seconds, found);
}

async function measurePlain(stage: Stage, seconds: number, found: Idleness[]): Promise<number> {
  await using run = startPlainProgram(stage, { ...NO_TEXT, timeLimitMs: (seconds + 120) * 1000 });
  await run.settle();
  return await look(run, seconds, found);
}

async function look(run: TerminalRun, seconds: number, found: Idleness[]): Promise<number> {
  await Bun.sleep(REST_MS);
  const before = { cpuSeconds: readCpuSeconds(run.pid), sleeps: readSleeps(run.pid) };
  await Bun.sleep(seconds * 1000);
  const percent = ((readCpuSeconds(run.pid) - before.cpuSeconds) / seconds) * 100;
  found.push({ percent, wakesASecond: (readSleeps(run.pid) - before.sleeps) / seconds });
  return percent;
}
