/** What was asked for on the command line. */
export interface BenchArguments {
  /** Names of benchmarks; none means all. */
  names: string[];
  isJson: boolean;
  /** Exceeded budgets make the exit code 1. */
  isCheck: boolean;
  /** Measures the programs that users could pick instead, and nothing else. */
  isPeers: boolean;
  /** How often each quantity is measured. */
  runs?: number;
  /** How long is looked on where nothing happens. */
  seconds?: number;
}

const FLAGS = {
  "--json": "isJson",
  "--check": "isCheck",
  "--peers": "isPeers",
} as const;

/** @throws Error, in one line for the user, for what is not known. */
export function parseArguments(argv: readonly string[], known: readonly string[]): BenchArguments {
  const result: BenchArguments = {
    names: [],
    isJson: false,
    isCheck: false,
    isPeers: false,
  };
  const words = argv.values();
  for (const word of words) {
    if (isFlag(word)) result[FLAGS[word]] = true;
    else if (word === "--runs") result.runs = parseCount(word, words.next().value);
    else if (word === "--seconds") result.seconds = parseCount(word, words.next().value);
    else if (known.includes(word)) result.names.push(word);
    else throw new Error(`${word}: not known. Benchmarks: ${known.join(", ")}. Options: --help.`);
  }
  return result;
}

function isFlag(word: string): word is keyof typeof FLAGS {
  return Object.hasOwn(FLAGS, word);
}

function parseCount(option: string, text: string | undefined): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${option} takes a number from 1 on.`);
  return count;
}
