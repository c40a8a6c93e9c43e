/** The command line of `bench`. */
export interface BenchArguments {
  /** Names of benchmarks; empty means all. */
  names: string[];
  isJson: boolean;
  /** Exceeded budgets make the exit code 1. */
  isCheck: boolean;
  /** Measures only the programs that users could choose instead. */
  isPeers: boolean;
  /** How often each quantity is measured. */
  runs?: number;
  /** How long an idle program is observed. */
  seconds?: number;
  /** How many sessions the index has to hold. */
  sessions?: number;
  /** A file of commands, a JSON object `{cmd, cwd}` a line. */
  commandsFile?: string;
}

const FLAGS = {
  "--json": "isJson",
  "--check": "isCheck",
  "--peers": "isPeers",
} as const;

/** @throws Error, with a line for the user, for anything unknown. */
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
    else if (word === "--sessions") result.sessions = parseCount(word, words.next().value);
    else if (word === "--commands") result.commandsFile = parseFile(word, words.next().value);
    else if (known.includes(word)) result.names.push(word);
    else throw new Error(`${word}: unknown. Benchmarks: ${known.join(", ")}. Options: --help.`);
  }
  return result;
}

function isFlag(word: string): word is keyof typeof FLAGS {
  return Object.hasOwn(FLAGS, word);
}

function parseFile(option: string, text: string | undefined): string {
  if (!text) throw new Error(`${option} needs a file.`);
  return text;
}

function parseCount(option: string, text: string | undefined): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${option} needs a number of at least 1.`);
  return count;
}

/** A choice as a help page lists it. */
interface NamedChoice {
  name: string;
  /** One line. */
  about: string;
}

/** What `--help` of one of these programs shows. */
interface HelpPage {
  /** The forms of the command line. */
  usage: readonly string[];
  choices: readonly NamedChoice[];
  /** Notes, a line each. */
  notes: readonly string[];
}

/** The help page of a command of this package, as text without a final line feed. */
export function formatHelpPage({ usage, choices, notes }: HelpPage): string {
  const width = Math.max(0, ...choices.map(({ name }) => name.length));
  const rows = choices.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  const parts = [usage, rows, notes].filter((lines) => lines.length > 0);
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

/** For a command that could not be carried out; exit code 1 is for problems found. */
const EXIT_NOT_DONE = 2;

/** A command of this package. */
interface BenchScript {
  name: string;
  /** Printed for `--help` and `-h`, instead of everything else. */
  help: HelpPage;
  /** @param argv without the program. @returns the exit code. */
  main(argv: readonly string[]): Promise<number>;
}

/** Runs a command and exits with its code; an error is printed as one line, with code 2. */
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

/** How many random values to try, and the seed to repeat them. */
interface SeededRuns {
  runs: number;
  /** The same seed gives the same sequence of random numbers. */
  seed: number;
}

const MAX_SEED = 2 ** 31;

/**
 * Parses `--runs N` and `--seed N`; the default seed is the time.
 * @param usualRuns the default for `--runs`.
 * @throws Error, with a line for the user, for anything else.
 */
export function parseSeededRuns(argv: readonly string[], usualRuns: number): SeededRuns {
  const result: SeededRuns = { runs: usualRuns, seed: Date.now() % MAX_SEED };
  const words = argv.values();
  for (const word of words) {
    if (word !== "--runs" && word !== "--seed")
      throw new Error(`${word}: unknown. Options: --runs N, --seed N.`);
    const value = Number(words.next().value);
    if (!Number.isInteger(value) || value < 1) throw new Error(`${word} needs a number of at least 1.`);
    if (word === "--runs") result.runs = value;
    else result.seed = value;
  }
  return result;
}
