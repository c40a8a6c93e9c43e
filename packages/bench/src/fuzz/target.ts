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
  /** Of a value that was found before, as it was told: only this one is tried. */
  path?: string | undefined;
  /** The search ends after this time, with what it has tried by then. */
  limitMs?: number | undefined;
}

/** What a search came to; it ends with the first problem. */
interface FuzzOutcome {
  tried: number;
  /** What breaks the promise and how to see it again; undefined when nothing was found. */
  problem?: string;
}

/** Something that has to hold for every value that chance makes. */
export interface FuzzTarget {
  name: string;
  /** One line. */
  about: string;
  /** How many values are tried when nothing is said, and in the checks before each commit. */
  runs: { usual: number; short: number };
  search(search: FuzzSearch): Promise<FuzzOutcome>;
}

/** A promise, and the values that it is tried with. */
interface TargetPlan<Value> extends Pick<FuzzTarget, "name" | "about" | "runs"> {
  values: fc.Arbitrary<Value>;
  /**
   * What is wrong with a value, in words. What it throws is a problem too, and so is a promise that it leaves rejected.
   * @param makeDirectory gives a new directory, which is removed behind the try.
   */
  findProblem(value: Value, makeDirectory: () => string): Promise<string | undefined> | string | undefined;
}

/** A try that takes longer than this hangs; the largest ones take a fraction of a second. */
const HANG_MS = 20_000;
const SHOWN_CHARACTERS = 1_500;

/** A target whose values come from fast-check; a value that breaks the promise is made as small as it can be. */
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
        // Rejections that nobody has taken are told behind all that was waiting.
        await setImmediate();
        const [rejection] = rejections.splice(0);
        if (rejection !== undefined) throw new Error(`a promise was left rejected: ${rejection}`);
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

/** What a user has asked for; `path` leads the search of one target straight to that value. */
interface FuzzArguments {
  /** Which targets; all when empty. */
  names: readonly string[];
  /** Of each target; its own number when left out. */
  runs: number | undefined;
  seed: number;
  /** Of a value that was found before. */
  path: string | undefined;
}

const PATH = /^\d+(?::\d+)*$/;

/** Takes `[NAME…] [--runs N] [--seed N] [--path PATH]`. @throws Error, in one line for the user, for anything else. */
export function parseFuzzArguments(argv: readonly string[], known: readonly string[]): FuzzArguments {
  const names = argv.filter((word) => known.includes(word));
  const rest = argv.filter((word) => !known.includes(word));
  try {
    const { path, others } = takePath(rest);
    const { runs, seed } = parseSeededRuns(others, 0);
    if (path !== undefined && (names.length !== 1 || !others.includes("--seed")))
      throw new Error("--path belongs to one target and to a --seed.");
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
  if (!PATH.test(path)) throw new Error("--path takes what was told with a problem, such as 7:0:1.");
  return { path, others: words.toSpliced(at, 2) };
}

/** A search and how long it took. */
export interface TriedTarget {
  target: Pick<FuzzTarget, "name" | "about">;
  outcome: FuzzOutcome;
  tookMs: number;
}

/** A line for each target, with how many values were tried and whether one broke its promise. */
export function formatOutcomes(tried: readonly TriedTarget[]): string {
  const rows = tried.map(({ target, outcome, tookMs }) => [
    target.name,
    String(outcome.tried),
    outcome.problem === undefined ? "0" : "1",
    `${(tookMs / 1000).toFixed(1)} s`,
    target.about,
  ]);
  const table = [["target", "tried", "broken", "took", "what has to hold"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  return table
    .map(([name = "", ...others]) => {
      const numbers = others.slice(0, 3).map((text, index) => text.padStart(widths[index + 1] ?? 0));
      return [name.padEnd(widths[0] ?? 0), ...numbers, others[3]].join("  ");
    })
    .join("\n");
}
