import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { measureEchoes } from "../measure/echo-times.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { quantile } from "../measure/statistics.ts";
import { LAST_WORD, LONG_TRANSCRIPT, streamedTurn } from "../stage/long-answers.ts";
import { startPlainProgram } from "../stage/plain-program.ts";
import { askUntil, openScreen, type ScriptedTurn } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 5;
const KEYS = 250;
// Nobody types faster; the text takes longer than all keys together.
const INTERVAL_MS = 25;
const BUDGET_MS = 20;

/** How long a key takes from the keyboard to the screen, while an answer streams and below a long transcript. */
export const screenKeys: Benchmark = {
  name: "screen-keys",
  about: "key to echo while an answer streams, and below 5,000 rows of transcript",
  async measure(stage) {
    const plain = new Series(() => measurePlain(stage));
    const subjects = [
      { name: "while an answer streams", series: new Series(() => measureStreaming(stage, [])) },
      { name: "below 5,000 rows", series: new Series(() => measureQuiet(stage)) },
      {
        name: "while an answer streams below 5,000 rows",
        series: new Series(() => measureStreaming(stage, [LONG_TRANSCRIPT])),
      },
    ];
    await takeTurns([plain, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    return subjects.map(
      ({ name, series }): Figure => ({
        name: `screen-keys, 99th percentile, ${name}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured: series.values,
        reference: { name: "plain program, streaming", values: plain.values },
        budget: BUDGET_MS,
      }),
    );
  },
};

const typing = { intervalMs: INTERVAL_MS, until: (typed: number) => typed >= KEYS };

async function measurePlain(stage: Stage): Promise<number> {
  const { text, chunkChars, chunkDelayMs } = streamedTurn();
  await using run = startPlainProgram(stage, { text, chunkChars, chunkDelayMs });
  await run.waitForScreen("Part 1");
  return quantile(await measureEchoes(run, typing), 0.99);
}

async function measureStreaming(stage: Stage, before: readonly ScriptedTurn[]): Promise<number> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, { program, turns: [...before, streamedTurn()] });
  for (const _ of before) await askUntil(run, "Tell me all.", LAST_WORD);
  run.type("Tell me.\r");
  await run.waitForScreen("Answering");
  const times = await measureEchoes(run, typing);
  await run.screen.flush();
  if (!run.screen.screen().join("\n").includes("Answering")) throw new Error("The answer ended too early.");
  return quantile(times, 0.99);
}

async function measureQuiet(stage: Stage): Promise<number> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT] });
  await askUntil(run, "Tell me all.", LAST_WORD);
  return quantile(await measureEchoes(run, typing), 0.99);
}
