import { parseSeededRuns } from "../seeded-runs.ts";
import type { FaultTrial } from "./trial.ts";

/** How often each trial is run when nothing is said, and in the long form. */
const USUAL_RUNS = 10;
const LONG_RUNS = 30;

/** What a user has asked for, with what is usual for the rest. */
export interface FaultArguments {
  /** Which trials; all when empty. */
  names: readonly string[];
  seed: number;
  runs(trial: Pick<FaultTrial, "longRuns">): number;
}

/**
 * Takes `[NAME…] [--long | --runs N] [--seed N]`.
 * @throws Error, in one line for the user, for anything else.
 */
export function parseFaultArguments(argv: readonly string[], known: readonly string[]): FaultArguments {
  const names = argv.filter((word) => known.includes(word));
  const isLong = argv.includes("--long");
  const options = argv.filter((word) => !known.includes(word) && word !== "--long");
  try {
    if (isLong && options.includes("--runs")) throw new Error("--long says how many runs; so does --runs.");
    const { runs, seed } = parseSeededRuns(options, USUAL_RUNS);
    return { names, seed, runs: ({ longRuns = LONG_RUNS }) => (isLong ? longRuns : runs) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason} Also: --long. Trials: ${known.join(", ")}.`);
  }
}
