import { parseSeededRuns, type SeededRuns } from "../seeded-runs.ts";

/** How often each trial is run when nothing is said. */
const USUAL_RUNS = 10;

export interface FaultArguments extends SeededRuns {
  /** Which trials; all when empty. */
  names: readonly string[];
}

/** Takes `[NAME…] [--runs N] [--seed N]`. @throws Error, in one line for the user, for anything else. */
export function parseFaultArguments(argv: readonly string[], known: readonly string[]): FaultArguments {
  const names = argv.filter((word) => known.includes(word));
  const options = argv.filter((word) => !known.includes(word));
  try {
    return { ...parseSeededRuns(options, USUAL_RUNS), names };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason} Trials: ${known.join(", ")}.`);
  }
}
