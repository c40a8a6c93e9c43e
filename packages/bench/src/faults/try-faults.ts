import { createTemporaryProject } from "../../../cli/test/support/temporary-project.ts";
import { createRandom } from "../../../core/test/support/fuzzed-history.ts";
import { parseSeededRuns } from "../arguments.ts";
import { type FaultTrial, PROMISES, type PromiseName, type Subject } from "./trial.ts";

/** The result of a plan. */
interface TriedFaults {
  tally: Tally;
  /** What could not be tried here, with the reason. */
  skipped: string[];
  /** Trials that failed themselves; their promises do not count. */
  failures: string[];
}

/** Which disturbances to try, and how to repeat them. */
interface FaultPlan {
  trials: readonly FaultTrial[];
  /** How often each is tried. */
  runs(trial: FaultTrial): number;
  /** The same seed gives the same disturbances; the machine's reactions are random. */
  seed: number;
  onTried?(done: number, trial: FaultTrial): void;
}

/** Disturbs the program and its parts in every way, one after the other, each time in a new home and project. */
export async function tryFaults({ trials, runs, seed, onTried }: FaultPlan): Promise<TriedFaults> {
  const result: TriedFaults = { tally: new Tally(), skipped: [], failures: [] };
  const possible = trials.filter((trial) => {
    const obstacle = trial.obstacle?.();
    const parts = obstacle === undefined ? (trial.leftOut?.() ?? []) : [obstacle];
    result.skipped.push(...parts.map((part) => `${trial.name}: ${part}`));
    return obstacle === undefined;
  });
  const most = Math.max(0, ...possible.map(runs));
  let done = 0;
  for (let run = 0; run < most; run++) {
    for (const [index, trial] of possible.entries()) {
      if (run >= runs(trial)) continue;
      await tryOnce(trial, seed + run * trials.length + index, result);
      onTried?.(++done, trial);
    }
  }
  return result;
}

async function tryOnce(trial: FaultTrial, seed: number, { tally, failures }: TriedFaults): Promise<void> {
  const place = createTemporaryProject();
  try {
    await trial.run({
      place,
      random: createRandom(seed),
      check: (promise, problem) =>
        tally.note(trial.subject, promise, problem && `${problem} [${trial.name}, seed ${seed}]`),
    });
  } catch (error) {
    failures.push(`${trial.name}, seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    place.remove();
  }
}

const NAMES = Object.keys(PROMISES).filter((name): name is PromiseName => name in PROMISES);

/** Counts how often each promise was tried, on the program and on parts of the library, and how often it was broken. */
export class Tally {
  private readonly tried = {
    program: new Map<PromiseName, number>(),
    library: new Map<PromiseName, number>(),
  };
  private readonly broken = new Map<PromiseName, number>();
  /** Descriptions, in the order in which they were found. */
  readonly problems: string[] = [];

  note(subject: Subject, promise: PromiseName, problem: string | undefined): void {
    const tried = this.tried[subject];
    tried.set(promise, (tried.get(promise) ?? 0) + 1);
    if (problem === undefined) return;
    this.broken.set(promise, (this.broken.get(promise) ?? 0) + 1);
    this.problems.push(`${PROMISES[promise]}: ${problem}`);
  }

  /** A line for each promise, including those that were not tried. */
  format(): string {
    const width = Math.max(...NAMES.map((name) => PROMISES[name].length));
    const { program, library } = this.tried;
    const rows = NAMES.map((name) => [
      PROMISES[name],
      ...[program, library, this.broken].map((counts) => String(counts.get(name) ?? 0)),
    ]);
    return [["promise", "program", "library", "broken"], ...rows]
      .map(([what = "", ...counts]) =>
        [what.padEnd(width), ...counts.map((count) => count.padStart(9))].join(""),
      )
      .join("\n");
  }
}

/** The output; `isTTY` is missing or false if it is not a terminal. */
interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** The progress of a long measurement. */
interface Progress {
  /** @param text one short line, which replaces the previous one. */
  show(text: string): void;
  /** Ends the line, so that the following output starts on a new one. */
  end(): void;
}

/** One line that is overwritten; nothing at all in a file or a pipe, where it would be noise. */
export function createProgress(output: ProgressOutput): Progress {
  let width = 0;
  const write = (text: string) => void (output.isTTY === true && output.write(text));
  return {
    show(text) {
      write(`\r${text.padEnd(width)}`);
      width = text.length;
    },
    end: () => write("\n"),
  };
}

/** How often each trial runs by default, and in the long form. */
const USUAL_RUNS = 10;
const LONG_RUNS = 30;

/** The user's choices, with defaults for the rest. */
interface FaultArguments {
  /** Which trials; all if empty. */
  names: readonly string[];
  seed: number;
  runs(trial: Pick<FaultTrial, "longRuns">): number;
}

/**
 * Parses `[NAME…] [--long | --runs N] [--seed N]`.
 * @throws Error, with a line for the user, for anything else.
 */
export function parseFaultArguments(argv: readonly string[], known: readonly string[]): FaultArguments {
  const names = argv.filter((word) => known.includes(word));
  const isLong = argv.includes("--long");
  const options = argv.filter((word) => !known.includes(word) && word !== "--long");
  try {
    if (isLong && options.includes("--runs"))
      throw new Error("--long and --runs both set the number of runs; use one of them.");
    const { runs, seed } = parseSeededRuns(options, USUAL_RUNS);
    return { names, seed, runs: ({ longRuns = LONG_RUNS }) => (isLong ? longRuns : runs) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason} Also: --long. Trials: ${known.join(", ")}.`);
  }
}
