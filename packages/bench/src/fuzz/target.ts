import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { parseSeededRuns } from "../arguments.ts";
import { Scratch } from "../stage/stage.ts";

/** How a target is searched. The same seed tries the same values in the same order. */
interface FuzzSearch {
  runs: number;
  seed: number;
  /** The path of a value that was found before, as reported: only this value is tried. */
  path?: string | undefined;
  /** The search ends after this time, with the values tried by then. */
  limitMs?: number | undefined;
}

/** The result of a search; it ends with the first problem. */
interface FuzzOutcome {
  tried: number;
  /** What breaks the property and how to reproduce it; undefined if nothing was found. */
  problem?: string;
}

/** A property that must hold for every random value. */
export interface FuzzTarget {
  name: string;
  /** One line. */
  about: string;
  /** How many values are tried by default, and in the checks before each commit. */
  runs: { usual: number; short: number };
  search(search: FuzzSearch): Promise<FuzzOutcome>;
}

/** A property, and the values that it is tried with. */
interface TargetPlan<Value> extends Pick<FuzzTarget, "name" | "about" | "runs"> {
  values: fc.Arbitrary<Value>;
  /**
   * Describes the problem with a value. An exception is a problem too, and so is an unhandled rejection.
   * @param makeDirectory returns a new directory, which is removed after the trial.
   */
  findProblem(value: Value, makeDirectory: () => string): Promise<string | undefined> | string | undefined;
}

/** A trial that takes longer than this hangs; the largest ones take a fraction of a second. */
const HANG_MS = 20_000;
const SHOWN_CHARACTERS = 1_500;

/**
 * A target whose values come from fast-check; a value that breaks the property is reduced as far as possible.
 */
export function createTarget<Value>({ values, findProblem, ...named }: TargetPlan<Value>): FuzzTarget {
  return {
    ...named,
    async search(search) {
      using scratch = new Scratch();
      const rejections: unknown[] = [];
      const onRejection = (reason: unknown) => void rejections.push(reason);
      process.on("unhandledRejection", onRejection);
      const property = fc.asyncProperty(values, async (value) => {
        const problem = await tryOnce(scratch.path, (makeDirectory) => findProblem(value, makeDirectory));
        if (problem !== undefined) throw new Error(problem);
        // Unhandled rejections are reported after all pending callbacks.
        await setImmediate();
        const [rejection] = rejections.splice(0);
        if (rejection !== undefined) throw new Error(`unhandled rejection: ${rejection}`);
      });
      try {
        return toOutcome(named.name, await fc.check(property, toParameters(search)));
      } finally {
        process.off("unhandledRejection", onRejection);
      }
    },
  };
}

function toParameters({ runs, seed, path, limitMs }: FuzzSearch): fc.Parameters<[unknown]> {
  return {
    numRuns: runs,
    seed,
    timeout: HANG_MS,
    ...(path !== undefined && { path }),
    ...(limitMs !== undefined && { interruptAfterTimeLimit: limitMs, markInterruptAsFailure: false }),
  };
}

async function tryOnce<Result>(
  parent: string,
  work: (makeDirectory: () => string) => Result,
): Promise<Awaited<Result>> {
  const made: string[] = [];
  try {
    return await work(() => {
      const directory = mkdtempSync(join(parent, "try-"));
      made.push(directory);
      return directory;
    });
  } finally {
    for (const directory of made) rmSync(directory, { recursive: true, force: true });
  }
}

function toOutcome(name: string, details: fc.RunDetails<[unknown]>): FuzzOutcome {
  const { failed, numRuns, seed, counterexamplePath, counterexample, errorInstance } = details;
  if (!failed) return { tried: numRuns };
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const value = fc.stringify(counterexample?.[0]);
  const again = `bun run fuzz ${name} --seed ${seed} --path ${counterexamplePath}`;
  const problem = `${reason.slice(0, SHOWN_CHARACTERS)}\n  value: ${value.slice(0, SHOWN_CHARACTERS)}\n  again: ${again}`;
  return { tried: numRuns, problem };
}

/** The user's choices; `path` leads the search of one target directly to that value. */
interface FuzzArguments {
  /** Which targets; all if empty. */
  names: readonly string[];
  /** Per target; default: its own number. */
  runs: number | undefined;
  seed: number;
  /** The path of a value that was found before. */
  path: string | undefined;
}

const PATH = /^\d+(?::\d+)*$/;

/**
 * Parses `[NAME…] [--runs N] [--seed N] [--path PATH]`. @throws Error, with a line for the user, for anything
 * else.
 */
export function parseFuzzArguments(argv: readonly string[], known: readonly string[]): FuzzArguments {
  const names = argv.filter((word) => known.includes(word));
  const rest = argv.filter((word) => !known.includes(word));
  try {
    const { path, others } = takePath(rest);
    const { runs, seed } = parseSeededRuns(others, 0);
    if (path !== undefined && (names.length !== 1 || !others.includes("--seed")))
      throw new Error("--path needs exactly one target and --seed.");
    return { names, runs: runs === 0 ? undefined : runs, seed, path };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason} Targets: ${known.join(", ")}.`);
  }
}

function takePath(words: readonly string[]): { path: string | undefined; others: readonly string[] } {
  const at = words.indexOf("--path");
  if (at < 0) return { path: undefined, others: words };
  const path = words[at + 1] ?? "";
  if (!PATH.test(path)) throw new Error("--path needs the path reported with a problem, such as 7:0:1.");
  return { path, others: words.toSpliced(at, 2) };
}

/** A search and its duration. */
export interface TriedTarget {
  target: Pick<FuzzTarget, "name" | "about">;
  outcome: FuzzOutcome;
  tookMs: number;
}

/** A line for each target, with the number of values tried and whether one broke its property. */
export function formatOutcomes(tried: readonly TriedTarget[]): string {
  const rows = tried.map(({ target, outcome, tookMs }) => [
    target.name,
    String(outcome.tried),
    outcome.problem === undefined ? "0" : "1",
    `${(tookMs / 1000).toFixed(1)} s`,
    target.about,
  ]);
  const table = [["target", "tried", "broken", "took", "property"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  return table
    .map(([name = "", ...others]) => {
      const numbers = others.slice(0, 3).map((text, index) => text.padStart(widths[index + 1] ?? 0));
      return [name.padEnd(widths[0] ?? 0), ...numbers, others[3]].join("  ");
    })
    .join("\n");
}
