export interface KillArguments {
  runs: number;
  /** The same seed gives the same scripts and moments; the machine does the rest. */
  seed: number;
}

const DEFAULT_RUNS = 200;
const MAX_SEED = 2 ** 31;

/** Takes `--runs N` and `--seed N`. @throws Error, in one line for the user, for anything else. */
export function parseKillArguments(argv: readonly string[]): KillArguments {
  const result: KillArguments = { runs: DEFAULT_RUNS, seed: Date.now() % MAX_SEED };
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
