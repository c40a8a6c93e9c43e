import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { measureEcho } from "../measure/echo-times.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { TerminalRun } from "../measure/terminal-run.ts";
import { createProject } from "../stage/project.ts";
import { FRAME_END, startScreen } from "../stage/screen-run.ts";
import type { Program, Stage } from "../stage/stage.ts";

const RUNS = 21;
const BUDGET = 12;
const KEY = "Q";
// What is loaded behind the first frame must not be felt by somebody who writes on.
const LATER_KEYS = ["W", "X", "Y", "Z", "K", "J", "V", "H"];
const LATER_KEY_MS = 30;
const BUDGET_LATER_MS = 50;

interface Start {
  /** From the start until a key that was typed at the first prompt is seen. */
  usableMs: number;
  /** The longest echo of the keys that follow. */
  worstEchoMs: number;
}

/** From the start of the screen to a prompt that shows what is typed into it. */
export const screenStart: Benchmark = {
  name: "screen-start",
  about: "from the start of the screen to the echo of the first key, against an empty script",
  async measure(stage) {
    const empty = new Series(() => runEmpty(stage));
    const subjects = (await stage.programs()).map((program) => {
      const echoes: number[] = [];
      const series = new Series(async () => {
        const { usableMs, worstEchoMs } = await measureStart(stage, program);
        echoes.push(worstEchoMs);
        return usableMs;
      });
      return { program, series, echoes };
    });
    await takeTurns([empty, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    return subjects.flatMap(({ program, series, echoes }): Figure[] => [
      {
        name: `screen-start, ${program.name}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "empty script", values: empty.values },
        ...(program.name === "bundle" && { budget: BUDGET }),
      },
      {
        name: `screen-start, slowest of the next ${LATER_KEYS.length} keys, ${program.name}`,
        unit: "ms",
        rule: { kind: "amount" },
        // The first belongs to the round that does not count.
        measured: echoes.slice(1),
        ...(program.name === "bundle" && { budget: BUDGET_LATER_MS }),
      },
    ]);
  },
};

async function runEmpty(stage: Stage): Promise<number> {
  await using run = new TerminalRun({
    argv: [stage.emptyScript],
    cwd: createProject(stage.scratch),
    environment: stage.environment(),
  });
  return (await run.ended) - run.startedAt;
}

async function measureStart(stage: Stage, program: Program): Promise<Start> {
  await using run = startScreen(stage, { program, turns: [] });
  await run.nextOutput(FRAME_END);
  await measureEcho(run, KEY);
  const usableMs = performance.now() - run.startedAt;
  let worstEchoMs = 0;
  for (const key of LATER_KEYS) {
    await Bun.sleep(LATER_KEY_MS);
    worstEchoMs = Math.max(worstEchoMs, await measureEcho(run, key));
  }
  return { usableMs, worstEchoMs };
}
