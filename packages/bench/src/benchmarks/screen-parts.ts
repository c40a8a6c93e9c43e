import { rankPaths } from "../../../cli/src/tui/editor/completion.ts";
import { wrapText } from "../../../cli/src/tui/screen/screen-text.ts";
import type { Benchmark } from "../figure.ts";
import { elapsedMs, Series, takeTurns } from "../measure/statistics.ts";

const RUNS = 21;
const WRAP_ROUNDS = 20;
const WRAP_BUDGET_MS = 5;
const RANK_BUDGET_MS = 100;

const BLOCK = Array.from(
  { length: 50 },
  (_, at) => `${at} \x1b[1mword\x1b[0m and ${"more ".repeat(15)}`,
).join("\n");

const PATHS = Array.from({ length: 20_000 }, (_, index) => `packages/part${index % 97}/src/file-${index}.ts`);

/** What the screen computes while the user types or reads, without a terminal. */
export const screenParts: Benchmark = {
  name: "screen-parts",
  about: "wrapping a block of 50 long lines; ranking 20,000 paths for @",
  async measure(stage) {
    const wrapping = new Series(wrapMs);
    const ranking = new Series(() => elapsedMs(async () => rankPaths(PATHS, "file-19999", 5)));
    await takeTurns([wrapping, ranking], stage.runs(RUNS));
    return [
      {
        name: "wrap 50 lines",
        unit: "ms",
        rule: { kind: "amount" },
        measured: wrapping.values,
        budget: WRAP_BUDGET_MS,
      },
      {
        name: "rank 20,000 paths",
        unit: "ms",
        rule: { kind: "amount" },
        measured: ranking.values,
        budget: RANK_BUDGET_MS,
      },
    ];
  },
};

/** Each text is different, so that no cached result of the previous one is used. */
async function wrapMs(): Promise<number> {
  const texts = Array.from({ length: WRAP_ROUNDS }, () => `${Bun.randomUUIDv7()} ${BLOCK}`);
  const totalMs = await elapsedMs(async () => {
    for (const text of texts) wrapText(text, 80);
  });
  return totalMs / WRAP_ROUNDS;
}
