/** How much chance to try, so that it can be tried again. */
export interface SeededRuns {
  runs: number;
  /** The same seed gives the same row of random numbers. */
  seed: number;
}

const MAX_SEED = 2 ** 31;

/**
 * Takes `--runs N` and `--seed N`; without a seed, the time is one.
 * @param usualRuns when nothing is said.
 * @throws Error, in one line for the user, for anything else.
 */
export function parseSeededRuns(argv: readonly string[], usualRuns: number): SeededRuns {
  const result: SeededRuns = { runs: usualRuns, seed: Date.now() % MAX_SEED };
  const words = argv.values();
  for (const word of words) {
    if (word !== "--runs" && word !== "--seed")
      throw new Error(`${word}: not known. Options: --runs N, --seed N.`);
    const value = Number(words.next().value);
    if (!Number.isInteger(value) || value < 1) throw new Error(`${word} takes a number from 1 on.`);
    if (word === "--runs") result.runs = value;
    else result.seed = value;
  }
  return result;
}
