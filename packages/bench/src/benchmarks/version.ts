import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { takeTurns } from "../measure/series.ts";
import { wholeProcess } from "../stage/whole-process.ts";

const RUNS = 31;
const BUDGET = 3;

/** How long `--version` takes as a whole process, as a multiple of an empty script. */
export const version: Benchmark = {
  name: "version",
  about: "--version as a whole process, against an empty script",
  async measure(stage) {
    const empty = wholeProcess(stage, [stage.emptyScript]);
    const programs = (await stage.programs()).map(({ name, path }) => ({
      name,
      series: wholeProcess(stage, [path, "--version"]),
    }));
    await takeTurns([empty, ...programs.map(({ series }) => series)], stage.runs(RUNS));
    return programs.map(
      ({ name, series }): Figure => ({
        name: `version, ${name}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "empty script", values: empty.values },
        budget: BUDGET,
      }),
    );
  },
};
