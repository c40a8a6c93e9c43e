import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { Scratch } from "../stage/scratch.ts";
import type { FuzzOutcome, FuzzSearch, FuzzTarget } from "./fuzz-target.ts";

/** A promise, and the values that it is tried with. */
export interface TargetPlan<Value> extends Pick<FuzzTarget, "name" | "about" | "runs"> {
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
