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
export function parseBenchArguments(argv: readonly string[], known: readonly string[]): BenchArguments {
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

/** What there is to choose from, as a help page lists it. */
interface NamedChoice {
  name: string;
  /** One line. */
  about: string;
}

/** What `--help` of one of these programs shows. */
interface HelpPage {
  /** The ways to call it. */
  usage: readonly string[];
  choices: readonly NamedChoice[];
  /** What to know, a line each. */
  notes: readonly string[];
}

/** The help page of a command of this package, as text without a line feed at its end. */
export function formatHelpPage({ usage, choices, notes }: HelpPage): string {
  const width = Math.max(0, ...choices.map(({ name }) => name.length));
  const rows = choices.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  const parts = [usage, rows, notes].filter((lines) => lines.length > 0);
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

/** For what could not be done at all; 1 is for what was found. */
const EXIT_NOT_DONE = 2;

/** A command of this package. */
interface BenchScript {
  name: string;
  /** Printed for `--help` and `-h`, in place of everything else. */
  help: HelpPage;
  /** @param argv without the program. @returns the exit code. */
  main(argv: readonly string[]): Promise<number>;
}

/** Runs a command, whose exit code is that of this process; an error is told in a line, with code 2. */
export async function runBenchScript({ name, help, main }: BenchScript): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(formatHelpPage(help));
    return;
  }
  try {
    process.exitCode = await main(argv);
  } catch (error) {
    console.error(`${name}: ${describeError(error)}`);
    process.exitCode = EXIT_NOT_DONE;
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} ${describeError(error.cause)}`;
}

/** How much chance to try, so that it can be tried again. */
interface SeededRuns {
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
