import { holdLabelledRuns, rateRuns } from "../../../core/test/support/labelled-runs.ts";
import type { Benchmark } from "../figure.ts";

const RUNS = 200;
/** Of the sentences that are listed, at most this share may be supported after all. */
const MOST_WRONG_PERCENT = 5;
/** Of the runs with an unsupported claim, at most this share may be missed. */
const MOST_MISSED_PERCENT = 10;

/** How well claims without evidence are found, in runs that are labelled by hand. */
export const evidence: Benchmark = {
  name: "evidence",
  about: "claims that no check supports, in labelled runs",
  async measure(stage) {
    const runs = await holdLabelledRuns(stage.scratch.makeDirectory("evidence"), RUNS);
    const { precision, recall } = rateRuns(runs);
    const amount = { unit: "%", rule: { kind: "amount" } } as const;
    return [
      {
        ...amount,
        name: `listed wrongly, of ${RUNS} runs`,
        measured: [100 - precision],
        budget: MOST_WRONG_PERCENT,
      },
      {
        ...amount,
        name: `missed, of ${RUNS} runs`,
        measured: [100 - recall],
        budget: MOST_MISSED_PERCENT,
      },
    ];
  },
};
